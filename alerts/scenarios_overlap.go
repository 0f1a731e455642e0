package alerts

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

func overlapScenarios() []scenario {
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
	return []scenario{
		{id: "Q1", name: "a leader ends 20 s after another has won, between two samples", every: every, end: end,
			load: tookOver + `leader_last_ended_timestamp_seconds{instance="i1"} _x11 328x40`,
			want: "Overlap/warning 5m30s..16m30s = 20"},
		{id: "Q2", name: "a handover between clocks that differ by half a second", every: every, end: end,
			load: tookOver + `leader_last_ended_timestamp_seconds{instance="i1"} _x11 308.5x40`},
		{id: "Q3", name: "a handover between clocks that differ by the tolerance", every: every, end: end,
			load: tookOver + `leader_last_ended_timestamp_seconds{instance="i1"} _x11 309x40`},
		{id: "Q4", name: "a second leader comes and goes between two samples", every: every, end: end,
			load: visited,
			want: "Overlap/warning 5m30s..16m30s = 12"},
		{id: "Q5", name: "a leader hands over, its successor too, and the first is not sampled meanwhile", every: every, end: end,
			load: held + `
				up{instance="i1"} 1x10 0x9 1x40
				leader_active{instance="i1"} 1x10 stale _x8 0x40
				leader_active{instance="i2"} 0x50
				leader_active{instance="i3"} 0x10 1x40
				leader_last_acquired_timestamp_seconds{instance="i1"} 10x10 stale _x8 10x40
				leader_last_ended_timestamp_seconds{instance="i1"} _x20 307x40
				leader_last_acquired_timestamp_seconds{instance="i2"} _x11 308x40
				leader_last_ended_timestamp_seconds{instance="i2"} _x11 320x40
				leader_last_acquired_timestamp_seconds{instance="i3"} _x11 321x40`},
		{id: "Q6", name: "an elector that allows two leaders", every: every, end: end,
			load: visited + `leader_max_leaders{instance="i1"} 2x50`},
		{id: "Q7", name: "two tenants share a label", every: every, end: end,
			load: `
				leader_last_acquired_timestamp_seconds{instance="i1",lock_name="redacted"} 10x50
				leader_last_ended_timestamp_seconds{instance="i1",lock_name="redacted"} _x11 328x40
				leader_last_acquired_timestamp_seconds{instance="i2",lock_name="redacted"} _x11 308x40`},
		{id: "Q8", name: "a collector repeats what a leader said before it handed over and left", every: every, end: end,
			load: held + pushed},
		{id: "Q9", name: "a second leader comes and goes, pushed, and the first renews afterwards", every: every, end: end,
			load: held + `
				leader_active{instance="i1"} 1x50
				leader_lease_duration_seconds{instance="i1"} 15x50
				leader_lease_expiry_timestamp_seconds{instance="i1"} 15+30x50
				leader_last_acquired_timestamp_seconds{instance="i1"} 10x50
				leader_last_acquired_timestamp_seconds{instance="i2"} _x11 308x40
				leader_last_ended_timestamp_seconds{instance="i2"} _x11 320x40`,
			want: "Overlap/warning 5m30s..16m30s = 12"},
		{id: "Q10", name: "a loser is sampled once more and leaves with its target", every: every, end: end,
			load: held + `
				leader_active{instance="i1"} 1x10 0 stale
				leader_active{instance="i2"} 0x10 1x40
				leader_last_acquired_timestamp_seconds{instance="i1"} 10x11 stale
				leader_last_acquired_timestamp_seconds{instance="i2"} _x11 308x40
				leader_last_ended_timestamp_seconds{instance="i1"} _x11 328 stale`,
			want: "Overlap/warning 5m30s..16m30s = 20"},
		{id: "Q11", name: "an overlap of yesterday, seen by a server that starts", every: every, end: end,
			load: held + `
				leader_active{instance="i1"} _x20 0x40
				leader_active{instance="i2"} _x20 1x40
				leader_last_acquired_timestamp_seconds{instance="i1"} _x20 -3000x40
				leader_last_acquired_timestamp_seconds{instance="i2"} _x20 -2000x40
				leader_last_ended_timestamp_seconds{instance="i1"} _x20 -1900x40`},
		{id: "Q12", name: "two servers scrape a pair that overlapped", every: every, end: end,
			load: tookOver + `
				leader_last_ended_timestamp_seconds{instance="i1",prometheus_replica="p0"} _x11 328x40
				leader_last_ended_timestamp_seconds{instance="i1",prometheus_replica="p1"} _x12 328x39`,
			want: "Overlap/warning 5m30s..16m30s = 20"},
		{id: "Q13", name: "one lock name in two namespaces", every: every, end: end,
			load: `
				leader_last_acquired_timestamp_seconds{instance="i1",namespace="p"} 10x50
				leader_last_ended_timestamp_seconds{instance="i1",namespace="p"} _x11 328x40
				leader_last_acquired_timestamp_seconds{instance="i2",namespace="q"} _x11 308x40`},
		{id: "Q14", name: "a leader that overlapped dies before it is sampled again", every: every, end: end,
			load: held + `
				leader_active{instance="i1"} 1x10 stale
				leader_active{instance="i2"} 0x10 1x40
				leader_last_acquired_timestamp_seconds{instance="i1"} 10x10 stale
				leader_last_acquired_timestamp_seconds{instance="i2"} _x11 308x40`,
			limit: "what a process did not export before it died is not known"},
		{id: "Q15", name: "a handover to a replica whose clock is a minute behind", every: every, end: end,
			load: held + `
				leader_active{instance="i1"} 1x10 0x40
				leader_active{instance="i2"} 0x10 1x40
				leader_last_acquired_timestamp_seconds{instance="i1"} 10x50
				leader_last_ended_timestamp_seconds{instance="i1"} _x11 308x40
				leader_last_acquired_timestamp_seconds{instance="i2"} _x11 248x40`,
			want:  "Overlap/warning 5m30s..16m15s = 60",
			limit: "clocks that differ by more than the tolerance look like an overlap"},
		{id: "Q17", name: "a leader stops hours after a second one came and went", every: every, end: end,
			load: held + `
				leader_active{instance="i1"} 1x10 0x40
				leader_active{instance="i2"} 0x50
				leader_active{instance="i3"} 0x10 1x40
				leader_last_acquired_timestamp_seconds{instance="i1"} -9000x50
				leader_last_ended_timestamp_seconds{instance="i1"} _x11 308x40
				leader_last_acquired_timestamp_seconds{instance="i2"} -7000x50
				leader_last_ended_timestamp_seconds{instance="i2"} -6990x50`},
		{id: "Q18", name: "a second leader comes and goes, and the first stops before it is sampled", every: every, end: end,
			load: held + `
				leader_active{instance="i1"} 1x10 0x40
				leader_active{instance="i2"} 0x50
				leader_last_acquired_timestamp_seconds{instance="i1"} 10x50
				leader_last_ended_timestamp_seconds{instance="i1"} _x11 328x40
				leader_last_acquired_timestamp_seconds{instance="i2"} _x11 308x40
				leader_last_ended_timestamp_seconds{instance="i2"} _x11 320x40`,
			want: "NoLeader/critical 7m.. = 1\nOverlap/warning 5m30s..16m30s = 12"},
		{id: "Q16", name: "a loser wins again before it is sampled", every: every, end: end,
			load: held + `
				leader_active{instance="i1"} 1x50
				leader_active{instance="i2"} 0x50
				leader_last_acquired_timestamp_seconds{instance="i1"} 10x10 325x40
				leader_last_ended_timestamp_seconds{instance="i1"} _x11 320x40
				leader_last_acquired_timestamp_seconds{instance="i2"} _x11 308x40
				leader_last_ended_timestamp_seconds{instance="i2"} _x11 324x40`,
			limit: "a replica exports its last term only"},
	}
}
