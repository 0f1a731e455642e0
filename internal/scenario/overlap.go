package scenario

import "time"

// Terms that overlapped, mostly between two scrapes. Sample 11 is at 330 s.

const (
	// i1 led and i2 took over between the samples at 300 s and at 330 s.
	tookOver = held + `
		leader_active{instance="i1"} 1x10 0x40
		leader_active{instance="i2"} 0x10 1x40
		leader_last_acquired_timestamp_seconds{instance="i1"} 10x50
		leader_last_acquired_timestamp_seconds{instance="i2"} _x11 308x40
	`
	// i1 leads on; i2 led between the same samples and stopped.
	visited = held + `
		up{instance="i1"} 1x50
		leader_active{instance="i1"} 1x50
		leader_active{instance="i2"} 0x50
		leader_last_acquired_timestamp_seconds{instance="i1"} 10x50
		leader_last_acquired_timestamp_seconds{instance="i2"} _x11 308x40
		leader_last_ended_timestamp_seconds{instance="i2"} _x11 320x40
	`
)

func overlapScenarios() []Scenario {
	const end, every = 20 * time.Minute, 30 * time.Second
	pushed := `
		leader_active{instance="i1"} 1x20 stale
		leader_lease_duration_seconds{instance="i1"} 60x20 stale
		leader_lease_expiry_timestamp_seconds{instance="i1"} 350x20 stale
		leader_active{instance="i2"} 0x50
		leader_last_acquired_timestamp_seconds{instance="i1"} 10x20 stale
		leader_last_acquired_timestamp_seconds{instance="i2"} _x11 308x40
		leader_last_ended_timestamp_seconds{instance="i2"} _x11 320x40
		leader_active{instance="i3"} 0x10 1x40
		leader_last_acquired_timestamp_seconds{instance="i3"} _x11 321x40
	`
	return []Scenario{
		{ID: "Q1", Name: "a leader ends 20 s after another has won, between two samples", Every: every, End: end,
			Load: tookOver + `leader_last_ended_timestamp_seconds{instance="i1"} _x11 328x40`,
			Want: "Overlap/warning 5m30s..16m30s = 20"},
		{ID: "Q2", Name: "a handover between clocks that differ by half a second", Every: every, End: end,
			Load: tookOver + `leader_last_ended_timestamp_seconds{instance="i1"} _x11 308.5x40`},
		{ID: "Q3", Name: "a handover between clocks that differ by the tolerance", Every: every, End: end,
			Load: tookOver + `leader_last_ended_timestamp_seconds{instance="i1"} _x11 309x40`},
		{ID: "Q4", Name: "a second leader comes and goes between two samples", Every: every, End: end,
			Load: visited,
			Want: "Overlap/warning 5m30s..16m30s = 12"},
		{ID: "Q5", Name: "a leader hands over, its successor too, and the first is not sampled meanwhile", Every: every, End: end,
			Load: held + `
				up{instance="i1"} 1x10 0x9 1x40
				leader_active{instance="i1"} 1x10 stale _x8 0x40
				leader_active{instance="i2"} 0x50
				leader_active{instance="i3"} 0x10 1x40
				leader_last_acquired_timestamp_seconds{instance="i1"} 10x10 stale _x8 10x40
				leader_last_ended_timestamp_seconds{instance="i1"} _x20 307x40
				leader_last_acquired_timestamp_seconds{instance="i2"} _x11 308x40
				leader_last_ended_timestamp_seconds{instance="i2"} _x11 320x40
				leader_last_acquired_timestamp_seconds{instance="i3"} _x11 321x40`},
		{ID: "Q6", Name: "an elector that allows two leaders", Every: every, End: end,
			Load: visited + `leader_max_leaders{instance="i1"} 2x50`},
		{ID: "Q7", Name: "two tenants share a label", Every: every, End: end,
			Load: `
				leader_last_acquired_timestamp_seconds{instance="i1",lock_name="redacted"} 10x50
				leader_last_ended_timestamp_seconds{instance="i1",lock_name="redacted"} _x11 328x40
				leader_last_acquired_timestamp_seconds{instance="i2",lock_name="redacted"} _x11 308x40`},
		{ID: "Q8", Name: "a collector repeats what a leader said before it handed over and left", Every: every, End: end,
			Load: held + pushed},
		{ID: "Q9", Name: "a second leader comes and goes, pushed, and the first renews afterwards", Every: every, End: end,
			Load: held + `
				leader_active{instance="i1"} 1x50
				leader_lease_duration_seconds{instance="i1"} 15x50
				leader_lease_expiry_timestamp_seconds{instance="i1"} 15+30x50
				leader_last_acquired_timestamp_seconds{instance="i1"} 10x50
				leader_last_acquired_timestamp_seconds{instance="i2"} _x11 308x40
				leader_last_ended_timestamp_seconds{instance="i2"} _x11 320x40`,
			Want: "Overlap/warning 5m30s..16m30s = 12"},
		{ID: "Q10", Name: "a loser is sampled once more and leaves with its target", Every: every, End: end,
			Load: held + `
				leader_active{instance="i1"} 1x10 0 stale
				leader_active{instance="i2"} 0x10 1x40
				leader_last_acquired_timestamp_seconds{instance="i1"} 10x11 stale
				leader_last_acquired_timestamp_seconds{instance="i2"} _x11 308x40
				leader_last_ended_timestamp_seconds{instance="i1"} _x11 328 stale`,
			Want: "Overlap/warning 5m30s..16m30s = 20"},
		{ID: "Q11", Name: "an overlap of yesterday, seen by a server that starts", Every: every, End: end,
			Load: held + `
				leader_active{instance="i1"} _x20 0x40
				leader_active{instance="i2"} _x20 1x40
				leader_last_acquired_timestamp_seconds{instance="i1"} _x20 -3000x40
				leader_last_acquired_timestamp_seconds{instance="i2"} _x20 -2000x40
				leader_last_ended_timestamp_seconds{instance="i1"} _x20 -1900x40`},
		{ID: "Q12", Name: "two servers scrape a pair that overlapped", Every: every, End: end,
			Load: tookOver + `
				leader_last_ended_timestamp_seconds{instance="i1",prometheus_replica="p0"} _x11 328x40
				leader_last_ended_timestamp_seconds{instance="i1",prometheus_replica="p1"} _x12 328x39
				leader_max_leaders{instance="i1"} 1x50`,
			Want: "Overlap/warning 5m30s..16m30s = 20"},
		{ID: "Q13", Name: "one lock name in two namespaces", Every: every, End: end,
			Load: `
				leader_last_acquired_timestamp_seconds{instance="i1",namespace="p"} 10x50
				leader_last_ended_timestamp_seconds{instance="i1",namespace="p"} _x11 328x40
				leader_last_acquired_timestamp_seconds{instance="i2",namespace="q"} _x11 308x40`},
		{ID: "Q14", Name: "a leader that overlapped dies before it is sampled again", Every: every, End: end,
			Load: held + `
				leader_active{instance="i1"} 1x10 stale
				leader_active{instance="i2"} 0x10 1x40
				leader_last_acquired_timestamp_seconds{instance="i1"} 10x10 stale
				leader_last_acquired_timestamp_seconds{instance="i2"} _x11 308x40`,
			Limit: "what a process did not export before it died is not known"},
		{ID: "Q15", Name: "a handover to a replica whose clock is a minute behind", Every: every, End: end,
			Load: held + `
				leader_active{instance="i1"} 1x10 0x40
				leader_active{instance="i2"} 0x10 1x40
				leader_last_acquired_timestamp_seconds{instance="i1"} 10x50
				leader_last_ended_timestamp_seconds{instance="i1"} _x11 308x40
				leader_last_acquired_timestamp_seconds{instance="i2"} _x11 248x40`,
			Want:  "Overlap/warning 5m30s..16m15s = 60",
			Limit: "clocks that differ by more than the tolerance look like an overlap"},
		{ID: "Q17", Name: "a leader stops hours after a second one came and went", Every: every, End: end,
			Load: held + `
				leader_active{instance="i1"} 1x10 0x40
				leader_active{instance="i2"} 0x50
				leader_active{instance="i3"} 0x10 1x40
				leader_last_acquired_timestamp_seconds{instance="i1"} -9000x50
				leader_last_ended_timestamp_seconds{instance="i1"} _x11 308x40
				leader_last_acquired_timestamp_seconds{instance="i2"} -7000x50
				leader_last_ended_timestamp_seconds{instance="i2"} -6990x50`},
		{ID: "Q18", Name: "a second leader comes and goes, and the first stops before it is sampled", Every: every, End: end,
			Load: held + `
				leader_active{instance="i1"} 1x10 0x40
				leader_active{instance="i2"} 0x50
				leader_last_acquired_timestamp_seconds{instance="i1"} 10x50
				leader_last_ended_timestamp_seconds{instance="i1"} _x11 328x40
				leader_last_acquired_timestamp_seconds{instance="i2"} _x11 308x40
				leader_last_ended_timestamp_seconds{instance="i2"} _x11 320x40`,
			Want: "NoLeader/critical 7m15s.. = 1\nOverlap/warning 5m30s..16m30s = 12"},
		{ID: "Q16", Name: "a loser wins again before it is sampled", Every: every, End: end,
			Load: held + `
				leader_active{instance="i1"} 1x50
				leader_active{instance="i2"} 0x50
				leader_last_acquired_timestamp_seconds{instance="i1"} 10x10 325x40
				leader_last_ended_timestamp_seconds{instance="i1"} _x11 320x40
				leader_last_acquired_timestamp_seconds{instance="i2"} _x11 308x40
				leader_last_ended_timestamp_seconds{instance="i2"} _x11 324x40`,
			Limit: "a replica exports its last term only"},
		{ID: "Q19", Name: "two leaders end after a third has won, all between two samples", Every: every, End: end,
			Load: tookOver + `
				leader_last_ended_timestamp_seconds{instance="i1"} _x11 328x40
				leader_active{instance="i3"} 0x50
				leader_last_acquired_timestamp_seconds{instance="i3"} _x11 302x40
				leader_last_ended_timestamp_seconds{instance="i3"} _x11 320x40`,
			Want: "Overlap/warning 5m30s..16m30s = 20"},
		{ID: "Q20", Name: "the winner of an overlap disappears before the loser's end is old", Every: every, End: end,
			Load: ran + `
				leader_active{instance="i1"} 1x10 0x40
				leader_active{instance="i2"} 0x10 1x2 stale
				leader_last_acquired_timestamp_seconds{instance="i1"} 10x50
				leader_last_ended_timestamp_seconds{instance="i1"} _x11 328x40
				leader_last_acquired_timestamp_seconds{instance="i2"} _x11 308x2 stale`,
			Want: "Overlap/warning 5m30s..16m30s = 20"},
		{ID: "Q21", Name: "a second leader dies at once, and the first stops more than the window later", Every: every, End: end,
			Load: ran + `
				leader_active{instance="i1"} 1x23 0x27
				leader_active{instance="i2"} 0x10 1 stale
				leader_last_acquired_timestamp_seconds{instance="i1"} 10x50
				leader_last_ended_timestamp_seconds{instance="i1"} _x24 700x26
				leader_last_acquired_timestamp_seconds{instance="i2"} _x11 308 stale`,
			Limit: "a winner whose last sample is older than the window is forgotten"},
		{ID: "Q22", Name: "a second leader comes and goes, two servers scrape it, and the first stops minutes later", Every: every, End: end,
			Load: ran + `
				leader_active{instance="i1"} 1x16 0x34
				leader_active{instance="i2"} 0x50
				leader_last_acquired_timestamp_seconds{instance="i1"} 10x50
				leader_last_ended_timestamp_seconds{instance="i1"} _x17 500x33
				leader_last_acquired_timestamp_seconds{instance="i2",prometheus_replica="p0"} _x11 308x40
				leader_last_acquired_timestamp_seconds{instance="i2",prometheus_replica="p1"} _x11 308x40
				leader_last_ended_timestamp_seconds{instance="i2",prometheus_replica="p0"} _x11 320x40
				leader_last_ended_timestamp_seconds{instance="i2",prometheus_replica="p1"} _x11 320x40`,
			Want: "Overlap/warning 8m30s..16m30s = 12"},
		{ID: "Q23", Name: "a second leader comes and goes, the first stops a second later and leaves", Every: every, End: end,
			Load: ran + `
				leader_active{instance="i1"} 1x10 0x2 stale
				leader_active{instance="i2"} 0x50
				leader_last_acquired_timestamp_seconds{instance="i0"} 1x50
				leader_last_ended_timestamp_seconds{instance="i0"} 5x50
				leader_last_acquired_timestamp_seconds{instance="i1"} 10x12 stale
				leader_last_ended_timestamp_seconds{instance="i1"} _x11 328x1 stale
				leader_last_acquired_timestamp_seconds{instance="i2"} _x11 308x40
				leader_last_ended_timestamp_seconds{instance="i2"} _x11 320x40`,
			Want: "Overlap/warning 5m30s..16m30s = 12"},
		{ID: "Q24", Name: "the first of two leaders stops half a second before the second", Every: every, End: end,
			Load: ran + `
				leader_active{instance="i1"} 1x10 0x40
				leader_active{instance="i2"} 0x50
				leader_last_acquired_timestamp_seconds{instance="i1"} 10x50
				leader_last_ended_timestamp_seconds{instance="i1"} _x11 319.5x40
				leader_last_acquired_timestamp_seconds{instance="i2"} _x11 308x40
				leader_last_ended_timestamp_seconds{instance="i2"} _x11 320x40`,
			Want: "Overlap/warning 5m30s..16m30s = 11.5"},
		{ID: "Q25", Name: "the first of two leaders stops half a second after the second", Every: every, End: end,
			Load: ran + `
				leader_active{instance="i1"} 1x10 0x40
				leader_active{instance="i2"} 0x50
				leader_last_acquired_timestamp_seconds{instance="i1"} 10x50
				leader_last_ended_timestamp_seconds{instance="i1"} _x11 320.5x40
				leader_last_acquired_timestamp_seconds{instance="i2"} _x11 308x40
				leader_last_ended_timestamp_seconds{instance="i2"} _x11 320x40`,
			Want: "Overlap/warning 5m30s..16m30s = 12.5"},
		{ID: "Q26", Name: "three replicas lead one after another, and the last stops", Every: every, End: end,
			Load: ran + `
				leader_active{instance="i1"} 1x6 0x44
				leader_active{instance="i2"} 0x6 1x4 0x40
				leader_active{instance="i3"} 0x50
				leader_last_acquired_timestamp_seconds{instance="i1"} 10x50
				leader_last_ended_timestamp_seconds{instance="i1"} _x7 200x43
				leader_last_acquired_timestamp_seconds{instance="i2"} _x7 201x43
				leader_last_ended_timestamp_seconds{instance="i2"} _x11 307x40
				leader_last_acquired_timestamp_seconds{instance="i3"} _x11 308x40
				leader_last_ended_timestamp_seconds{instance="i3"} _x11 320x40`},
		{ID: "Q27", Name: "a collector repeats what a leader said before it died, and its successor stops", Every: every, End: end,
			Load: ran + `
				leader_active{instance="i1"} 1x50
				leader_active{instance="i2"} 0x50
				leader_lease_duration_seconds{instance="i1"} 30x50
				leader_lease_expiry_timestamp_seconds{instance="i1"} 300x50
				leader_last_acquired_timestamp_seconds{instance="i1"} 10x50
				leader_last_acquired_timestamp_seconds{instance="i2"} _x11 308x40
				leader_last_ended_timestamp_seconds{instance="i2"} _x11 320x40`},
		{ID: "Q28", Name: "two servers see that a second leader came and went", Every: every, End: end,
			Load: visited + `up{instance="i1",prometheus_replica="p1"} 1x50`,
			Want: "Overlap/warning 5m30s..16m30s = 12"},
	}
}
