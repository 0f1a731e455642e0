package scenario

import (
	"fmt"
	"strings"
	"time"
)

// What weeks of simulated services showed: leaders that cannot be scraped,
// handovers that are sampled late, and splits that are over soon.
func qualityScenarios() []Scenario {
	const half, minute = 30 * time.Second, time.Minute
	out := func(standby string) string {
		return held + `
			leader_active{instance="i1"} 1x9 stale _x20 1x60
			leader_last_acquired_timestamp_seconds{instance="i1"} -60x9 stale _x20 -60x60
			leader_lease_duration_seconds 15x100
			leader_lease_expiry_timestamp_seconds{instance="i1"} 12+30x9 stale _x20 942+30x60
			leader_active{instance="i2"} 0x100
			up{instance="i1"} 1x9 0x21 1x60
			up{instance="i2"} 1x100` + standby
	}
	const (
		waits  = "\nleader_pending_age_seconds{instance=\"i2\"} 60+30x100"
		polls  = "\nleader_not_acquired_total{instance=\"i2\",reason=\"contended\"} 0+10x100"
		fails  = "\nleader_not_acquired_total{instance=\"i2\",reason=\"backend_error\"} 0x9 4+4x90"
		seldom = "\nleader_attempts_total{instance=\"i2\"} 0+1x9 14+4x90"
	)
	return []Scenario{
		{ID: "B44", Name: "the leader cannot be scraped for ten minutes, and a standby waits", Every: half, End: 25 * minute, Load: out(waits),
			Want: "NoLeader/warning 10m..18m30s = 1\nScrapeFailing/warning 10m..21m = 1"},
		{ID: "B44", Name: "the leader cannot be scraped for ten minutes, and a standby is refused again and again", Every: half, End: 25 * minute, Load: out(polls),
			Want: "NoLeader/warning 10m..18m30s = 1\nScrapeFailing/warning 10m..21m = 1"},
		{ID: "B44", Name: "the leader cannot be scraped for ten minutes, and no standby campaigns", Every: half, End: 25 * minute, Load: out(""),
			Want:  "NoLeader/critical 6m30s..15m30s = 1\nScrapeFailing/warning 10m..21m = 1",
			Limit: "where no replica asks for the lock, nothing tells a leader that cannot be scraped from a dead one"},
		{ID: "B44", Name: "the leader cannot be scraped for good, and a standby waits", Every: half, End: 40 * minute,
			Load: held + `
				leader_active{instance="i1"} 1x9 stale
				leader_active{instance="i2"} 0x100
				leader_pending_age_seconds{instance="i2"} 60+30x100
				up{instance="i1"} 1x9 0x100
				up{instance="i2"} 1x100`,
			Want: "NoLeader/critical 24m30s.. = 1\nNoLeader/warning 10m..27m30s = 1\nScrapeFailing/warning 10m.. = 1"},
		{ID: "B45", Name: "the leader's node dies, its target stays, and a standby meets errors", Every: half, End: 14 * minute,
			Load: out(fails + seldom),
			Want: "BackendErrors/critical 5m15s.. = 0.407\nBackendErrors/warning 10m.. = 0.815\nNoLeader/critical 5m30s.. = 1\nScrapeFailing/warning 10m.. = 1"},
		{ID: "B46", Name: "a leader with a lease of ten minutes crashes and restarts in place", Every: half, End: 25 * minute,
			Load: held + `
				leader_active{instance="i1"} 1x9 stale 0x60
				leader_lease_expiry_timestamp_seconds{instance="i1"} 870x9 stale
				leader_last_acquired_timestamp_seconds{instance="i1"} -60x9 stale
				leader_active{instance="i2"} 0x29 1x60
				leader_last_acquired_timestamp_seconds{instance="i2"} _x30 880x60`,
			Want: "NoLeader/warning 10m..18m = 1"},
		{ID: "B46", Name: "a leader with a lease of ten minutes gives it back and stays, and no replica follows", Every: half, End: 12 * minute,
			Load: held + `
				leader_active{instance="i1"} 1x9 0x60
				leader_lease_expiry_timestamp_seconds{instance="i1"} 870x9 stale
				leader_last_ended_timestamp_seconds{instance="i1"} _x10 290x60
				leader_active{instance="i2"} 0x60`,
			Want: "NoLeader/critical 6m45s.. = 1"},
		{ID: "B48", Name: "the leader cannot be scraped, and a canary of another job never leads", Every: half, End: 20 * minute,
			Load: `
				leader_elector_info{instance="i2",mode="hold",backend="etcd",family="orders"} 1x100
				leader_elector_info{instance="c",job="canary",mode="hold",backend="etcd",family="orders"} 1x100
				leader_active{instance="i1"} 1x9 stale _x20 1x60
				leader_active{instance="i2"} 0x100
				leader_active{instance="c",job="canary"} 0x100
				leader_pending_age_seconds{instance="i2"} 60+30x100
				up{instance="i1"} 1x9 0x21 1x60`,
			Want: "NoLeader/warning 10m..18m30s = 1\nNoLeader/warning{job=\"canary\"} 10m..18m30s = 1\nScrapeFailing/warning 10m.. = 1"},
		{ID: "B49", Name: "a service starts, sampled every 60 s", Every: minute, End: 20 * minute,
			Load: `
				leader_active{instance="i0",lock_name="y"} 0x40
				leader_elector_info{instance="i1",mode="hold"} _x5 1x40
				leader_active{instance="i1"} _x5 0 1x40`},
		{ID: "B50", Name: "a leader gives up, and the next one is sampled a minute later", Every: minute, End: 20 * minute,
			Load: held + `
				leader_active{instance="i1"} 1x5 0x40
				leader_last_ended_timestamp_seconds{instance="i1"} _x6 355x40
				leader_active{instance="i2"} 0x6 1x40`},
		{ID: "B50", Name: "a leader gives up, and the lock is free for two minutes", Every: minute, End: 20 * minute,
			Load: held + `
				leader_active{instance="i1"} 1x5 0x40
				leader_last_ended_timestamp_seconds{instance="i1"} _x6 355x40
				leader_active{instance="i2"} 0x8 1x40`,
			Want: "NoLeader/critical 7m45s..9m = 1"},
		{ID: "B51", Name: "a leader renews for a minute after its last sample and dies, sampled every 60 s", Every: minute, End: 20 * minute,
			Load: held + `
				leader_active{instance="i1"} 1x5 stale
				leader_lease_duration_seconds 60x40
				leader_lease_expiry_timestamp_seconds{instance="i1"} 20+60x5 stale
				leader_active{instance="i2"} 0x6 1x40
				leader_pending_age_seconds{instance="i2"} 60+60x6 0x40`},
		{ID: "E18", Name: "the whole backend goes away, and standbys were refused every three seconds before", Every: half, End: 14 * minute,
			Load: threeHold + `
				leader_active{instance="i1"} 1x9 0x60
				leader_active{instance="i2"} 0x60
				leader_active{instance="i3"} 0x60
				leader_attempts_total{instance="i1"} 1x9 3+3x60
				leader_attempts_total{instance="i2"} 0+10x9 93+3x60
				leader_attempts_total{instance="i3"} 0+10x9 93+3x60
				leader_not_acquired_total{instance="i1",reason="backend_error"} 0x9 2+3x60
				leader_not_acquired_total{instance="i2",reason="backend_error"} 0x9 2+3x60
				leader_not_acquired_total{instance="i3",reason="backend_error"} 0x9 2+3x60`,
			Want: "BackendErrors/critical 5m15s.. = 0.0625\nBackendErrors/warning 11m.. = 0.461\nNoLeader/critical 5m30s.. = 1"},
		{ID: "E19", Name: "the leader crashes with a long lease, and one of two standbys cannot reach the backend", Every: half, End: 14 * minute,
			Load: threeHold + `
				leader_active{instance="i1"} 1x9 stale
				leader_lease_expiry_timestamp_seconds{instance="i1"} 870x9 stale
				leader_active{instance="i2"} 0x60
				leader_active{instance="i3"} 0x60
				leader_attempts_total{instance="i2"} 0+3x60
				leader_attempts_total{instance="i3"} 0+30x60
				leader_not_acquired_total{instance="i2",reason="backend_error"} 0+3x60
				leader_not_acquired_total{instance="i3",reason="contended"} 0+30x60`,
			Want: "NoLeader/warning 10m.. = 1"},
		{ID: "S22", Name: "a replica wins while another leads on", Every: half, End: 12 * minute, Load: held + outlasts("", 10),
			Want: "SplitBrain/critical 6m.. = 2"},
		{ID: "S22", Name: "a replica wins while another leads on, sampled every 60 s", Every: minute, End: 12 * minute, Load: held + outlasts("", 5),
			Want: "SplitBrain/critical 6m30s.. = 2"},
		{ID: "S22", Name: "two replicas lead for a minute", Every: half, End: 14 * minute,
			Load: held + `
				leader_active{instance="i1"} 1x12 0x40
				leader_active{instance="i2"} 0x10 1x50
				leader_last_acquired_timestamp_seconds{instance="i1"} 10x60
				leader_last_acquired_timestamp_seconds{instance="i2"} _x11 302x50
				up{instance="i1"} 1x60
				up{instance="i2"} 1x60`,
			Want: "SplitBrain/critical 6m..11m30s = 2"},
		{ID: "S23", Name: "a handover of which the winner is sampled first", Every: 15 * time.Second, End: 12 * minute, Load: held + straddles("308")},
		{ID: "S24", Name: "a handover to a replica whose clock is 20 s behind, of which the winner is sampled first", Every: 15 * time.Second, End: 12 * minute,
			Load: held + straddles("288")},
		{ID: "S25", Name: "a collector repeats what a leader said before it died and another won", Every: 15 * time.Second, End: 12 * minute,
			Load: held + `
				leader_active{instance="i1"} 1x40 stale
				leader_lease_expiry_timestamp_seconds{instance="i1"} 12+15x20 312x20 stale
				leader_last_acquired_timestamp_seconds{instance="i1"} 10x40 stale
				leader_active{instance="i2"} 0x21 1x60
				leader_lease_expiry_timestamp_seconds{instance="i2"} _x22 345+15x60
				leader_last_acquired_timestamp_seconds{instance="i2"} _x22 325x60`},
		{ID: "S26", Name: "a third leader wins where two are allowed, and two lead on", Every: half, End: 12 * minute,
			Load: "leader_max_leaders 2x60\n" + outlasts("", 10) + `
				leader_active{instance="i0"} 1x60
				leader_last_acquired_timestamp_seconds{instance="i0"} 5x60
				up{instance="i0"} 1x60`,
			Want: "SplitBrain/critical 6m.. = 3"},
		{ID: "S26", Name: "one of two leaders that are allowed makes room for a third replica, which is sampled first", Every: 15 * time.Second, End: 12 * minute,
			Load: "leader_max_leaders 2x60\n" + straddles("308") + `
				leader_active{instance="i0"} 1x60
				leader_last_acquired_timestamp_seconds{instance="i0"} 5x60
				up{instance="i0"} 1x60`},
		{ID: "S28", Name: "Prometheus starts beside a leader and a collector that is scraped in the place of a dead one", Every: half, End: 12 * minute,
			Load: held + inPlaceOfTheDead("1x30", "-200x30")},
		{ID: "S28", Name: "a collector is scraped in the place of a leader that dies, and another wins", Every: half, End: 12 * minute,
			Load: held + inPlaceOfTheDead("0x9 1x20", "_x10 306x20")},
		{ID: "S28", Name: "a lease of 5 s, scraped every 60 s", Every: minute, End: 12 * minute,
			Load: held + outlasts("", 5) + `
				leader_lease_expiry_timestamp_seconds{instance="i1"} 4+60x30
				leader_lease_expiry_timestamp_seconds{instance="i2"} _x6 364+60x30`,
			Want: "SplitBrain/critical 6m30s.. = 2"},
		{ID: "S28", Name: "a leader whose clock is 40 s behind leads on while another wins", Every: half, End: 12 * minute,
			Load: held + `
				leader_active{instance="i1"} 1x30
				leader_active{instance="i2"} 0x9 1x20
				leader_last_acquired_timestamp_seconds{instance="i1"} 10x30
				leader_last_acquired_timestamp_seconds{instance="i2"} _x10 306x20
				leader_lease_expiry_timestamp_seconds{instance="i1"} -25+30x30
				leader_lease_expiry_timestamp_seconds{instance="i2"} _x10 315+30x20
				up{instance="i1"} 1x30
				up{instance="i2"} 1x30`,
			Want: "SplitBrain/critical 7m.. = 2"},
		{ID: "S27", Name: "a rollout of three, scraped by two servers at different times", Every: 15 * time.Second, End: 12 * minute, Load: held + twoServers()},
	}
}

// threeHold are three replicas that campaign for a lock.
const threeHold = `
	leader_elector_info{instance="i1",mode="hold",backend="etcd",family="orders"} 1x100
	leader_elector_info{instance="i2",mode="hold",backend="etcd",family="orders"} 1x100
	leader_elector_info{instance="i3",mode="hold",backend="etcd",family="orders"} 1x100
	leader_max_leaders 1x100
`

// inPlaceOfTheDead is a collector that is scraped as i1 and repeats what it said
// before it died with a lease until 40 s, and a leader.
func inPlaceOfTheDead(leads, won string) string {
	return `
		leader_active{instance="i1"} 1x30
		leader_active{instance="i2"} ` + leads + `
		leader_last_acquired_timestamp_seconds{instance="i1"} -900x30
		leader_last_acquired_timestamp_seconds{instance="i2"} ` + won + `
		leader_lease_expiry_timestamp_seconds{instance="i1"} -20x30
		leader_lease_expiry_timestamp_seconds{instance="i2"} 15+30x30
		up{instance="i1"} 1x30
		up{instance="i2"} 1x30`
}

// outlasts are two leaders of which the second wins after a sample, 2 s after
// minute five.
func outlasts(labels string, last int) string {
	return strings.NewReplacer("LABELS", labels, "BEFORE", fmt.Sprint(last), "WAIT", fmt.Sprint(last+1)).Replace(`
		leader_active{instance="i1"LABELS} 1x60
		leader_active{instance="i2"LABELS} 0xBEFORE 1x60
		leader_last_acquired_timestamp_seconds{instance="i1"LABELS} 10x60
		leader_last_acquired_timestamp_seconds{instance="i2"LABELS} _xWAIT 302x60
		up{instance="i1"LABELS} 1x60
		up{instance="i2"LABELS} 1x60`)
}

// straddles is a handover at 307 s between replicas that are sampled every 30 s
// in turn; the winner says when it won.
func straddles(won string) string {
	return `
		leader_active{instance="i1"} ` + strings.Repeat("1 _ ", 11) + strings.Repeat("0 _ ", 20) + `
		leader_active{instance="i2"} ` + strings.Repeat("_ 0 ", 10) + strings.Repeat("_ 1 ", 21) + `
		leader_last_acquired_timestamp_seconds{instance="i1"} ` + strings.Repeat("10 _ ", 31) + `
		leader_last_acquired_timestamp_seconds{instance="i2"} ` + strings.Repeat("_ _ ", 10) + strings.Repeat("_ "+won+" ", 21) + `
		up{instance="i1"} 1x60
		up{instance="i2"} 1x60`
}

// twoServers is a rollout in which each new replica leads for half a minute;
// each server samples a replica once or twice, 15 s after the other.
func twoServers() string {
	return `
		leader_active{instance="o1",prometheus_replica="p0"} ` + strings.Repeat("1 _ ", 10) + `stale
		leader_active{instance="o1",prometheus_replica="p1"} _ ` + strings.Repeat("1 _ ", 9) + `1 _ stale
		leader_active{instance="n1",prometheus_replica="p0"} ` + strings.Repeat("_ _ ", 9) + `0 _ 1 _ stale
		leader_active{instance="n1",prometheus_replica="p1"} _ ` + strings.Repeat("_ _ ", 9) + `0 _ 1 _ stale
		leader_active{instance="n2",prometheus_replica="p0"} ` + strings.Repeat("_ _ ", 10) + `0 _ 1 _ stale
		leader_active{instance="n2",prometheus_replica="p1"} _ ` + strings.Repeat("_ _ ", 10) + `0 _ 1 _ stale
		leader_active{instance="n3",prometheus_replica="p0"} ` + strings.Repeat("_ _ ", 11) + `0 _ ` + strings.Repeat("1 _ ", 20) + `
		leader_active{instance="n3",prometheus_replica="p1"} _ ` + strings.Repeat("_ _ ", 11) + `0 _ ` + strings.Repeat("1 _ ", 20)
}
