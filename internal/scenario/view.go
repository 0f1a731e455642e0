package scenario

import (
	"slices"
	"strings"
	"time"
)

// The state of the backend, as an observer or a standby reports it. Sample 11 is at
// 330 s.

const (
	// An observer of Leases, o1, has a job and a namespace of its own.
	observing = `
		leader_backend_up{instance="o1",job="observer",namespace="mon",backend="kubernetes"} 1x500
	`
	// A program with a witness: i1 leads at first, and i2 stands by.
	campaigning = held + `
		leader_identity_info{instance="i1",holder="h1"} 1x100
		leader_identity_info{instance="i2",holder="h2"} 1x100
		leader_last_acquired_timestamp_seconds{instance="i1"} -60x100
	`
)

// seen is a series of the observer, with further labels.
func seen(name, labels, values string) string {
	if !strings.Contains(labels, "backend=") {
		labels += `,backend="kubernetes"`
	}
	return "\n" + name + `{instance="o1",job="observer",namespace="mon",` + strings.TrimPrefix(labels, ",") + "} " + values + "\n"
}

func viewScenarios() []Scenario {
	return slices.Concat(vacantScenarios(), impostorScenarios(), agreedLongAgo(), blindScenarios())
}

func vacantScenarios() []Scenario {
	const end, every = 20 * time.Minute, 30 * time.Second
	heldBy := func(values string) string {
		return observing + seen("leader_backend_held", `lock_name="ns/app"`, values)
	}
	const page = `Vacant/critical{job="observer",lock_name="ns/app",namespace="mon"} `
	return []Scenario{
		{ID: "X1", Name: "a controller that nobody instrumented loses its leader", Every: every, End: end,
			Load: heldBy("1x10 0x90") + seen("leader_backend_holder_info", `lock_name="ns/app",holder="h1"`, "1x10 stale"),
			Want: page + "6m30s.. = 0"},
		{ID: "X2", Name: "a leader comes back after five minutes", Every: every, End: end,
			Load: heldBy("1x10 0x10 1x80"),
			Want: page + "6m30s..11m = 0"},
		{ID: "X3", Name: "a handover that one sample shows", Every: every, End: end,
			Load: heldBy("1x10 0x1 1x80")},
		{ID: "X4", Name: "one of two observers is behind", Every: every, End: end,
			Load: heldBy("0x100") + `leader_backend_held{instance="o2",job="observer",namespace="mon",backend="kubernetes",lock_name="ns/app"} 1x100`},
		{ID: "X5", Name: "the backend cannot be asked while it may name a holder", Every: every, End: end,
			Load: heldBy("1x10 stale _x90")},
		{ID: "X6", Name: "a record that nobody has held since the observer started", Every: every, End: end,
			Load: heldBy("0x100")},
		{ID: "X7", Name: "a lock around jobs on another backend", Every: every, End: end,
			Load: `leader_backend_held{instance="o1",job="observer",backend="redis"} 1x10 0x90
				leader_backend_up{instance="o1",job="observer",backend="redis"} 1x100`},
		{ID: "X8", Name: "a Lease is taken for single runs, as its program says", Every: every, End: end,
			Load: ran + seen("leader_backend_held", `lock_name="x"`, "1x10 0x90") + observing + `
				leader_active{instance="i1"} 1x10 0x90`},
		{ID: "X9", Name: "an election on etcd that candidates say they hold loses its last candidate", Every: every, End: end,
			Load: `
				leader_elector_info{mode="hold",backend="etcd",instance="i1"} 1x100
				leader_active{instance="i1"} 1x10 0x90
				leader_backend_held{instance="o1",job="observer",backend="etcd"} 1x10 0x90
				leader_backend_up{instance="o1",job="observer",backend="etcd"} 1x100`,
			Want: "NoLeader/critical 7m.. = 1\n" + `Vacant/critical{job="observer"} 6m30s.. = 0`},
		{ID: "X10", Name: "a standby witnesses that nobody takes over", Every: every, End: end,
			Load: campaigning + `
				leader_active{instance="i1"} 1x10 stale
				leader_active{instance="i2"} 0x100
				leader_backend_held{instance="i2",backend="kubernetes"} 1x10 0x90
				leader_backend_up{instance="i2",backend="kubernetes"} 1x100`,
			Want: "NoLeader/critical 7m.. = 1\nVacant/critical 6m30s.. = 0"},
		{ID: "X11", Name: "locks that share a label", Every: every, End: end,
			Load: observing + seen("leader_backend_held", `lock_name="tenant-*"`, "1x10 0x90") + seen("leader_backend_held", `lock_name="redacted"`, "3x10 0x90")},
		{ID: "X12", Name: "a lock that was held seven hours ago is retired", Every: time.Minute, End: 7 * time.Hour,
			Load: heldBy("1x10 0x600"),
			Want: page + "12m..6h10m = 0"},
		{ID: "X13", Name: "a lock is held for half a minute after hours without", Every: every, End: end,
			Load: heldBy("0x10 1 0x80"),
			Want: page + "7m.. = 0"},
		{ID: "X14", Name: "an observer restarts while nobody holds the lock", Every: every, End: end,
			Load: observing + seen("leader_backend_held", `lock_name="ns/app"`, "1x10 0x10 stale") + `
				leader_backend_held{instance="o2",job="observer",namespace="mon",backend="kubernetes",lock_name="ns/app"} _x21 0x80
				leader_backend_up{instance="o2",job="observer",namespace="mon",backend="kubernetes"} _x21 1x80`,
			Want: page + "6m30s.. = 0"},
		{ID: "X15", Name: "one of two clusters loses a leader", Every: every, End: end,
			Load: heldBy("1x100") + seen("leader_backend_held", `lock_name="ns/app",cluster="b"`, "1x10 0x90") + seen("leader_backend_up", `cluster="b"`, "1x100"),
			Want: `Vacant/critical{cluster="b",job="observer",lock_name="ns/app",namespace="mon"} 6m30s.. = 0`},
	}
}

func impostorScenarios() []Scenario {
	const end, every = 20 * time.Minute, 30 * time.Second
	return []Scenario{
		{ID: "I1", Name: "a leader is deposed and does not notice", Every: every, End: end,
			Load: campaigning + `
				leader_active{instance="i1"} 1x100
				leader_active{instance="i2"} 0x100
				leader_backend_holder_info{instance="i2",backend="etcd",holder="h1"} 1x10 stale
				leader_backend_holder_info{instance="i2",backend="etcd",holder="stranger"} _x11 1x90
				leader_backend_held{instance="i2",backend="etcd"} 1x100`,
			Want: "Impostor/critical 6m30s.. = 1"},
		{ID: "I2", Name: "a leader that the backend names", Every: every, End: end,
			Load: campaigning + `
				leader_active{instance="i1"} 1x100
				leader_active{instance="i2"} 0x100
				leader_backend_holder_info{instance="i2",backend="etcd",holder="h1"} 1x100`},
		{ID: "I3", Name: "a handover of which one process is scraped late", Every: every, End: end,
			Load: campaigning + `
				leader_active{instance="i1"} 1x11 0x90
				leader_active{instance="i2"} 0x10 1x90
				leader_backend_holder_info{instance="i2",backend="etcd",holder="h1"} 1x10 stale
				leader_backend_holder_info{instance="i2",backend="etcd",holder="h2"} _x11 1x90`},
		{ID: "I4", Name: "two lead, and an observer sees which", Every: every, End: end,
			Load: campaigning + observing + `
				leader_active{instance="i1"} 1x10 1x30 0x60
				leader_active{instance="i2"} 0x10 1x90
			` + seen("leader_backend_holder_info", `lock_name="x",holder="h1"`, "1x10 stale") + seen("leader_backend_holder_info", `lock_name="x",holder="h2"`, "_x11 1x90"),
			Want: "Impostor/critical 6m30s.. = 1\nSplitBrain/critical 7m30s.. = 2"},
		{ID: "I5", Name: "an elector that allows two leaders", Every: every, End: end,
			Load: campaigning + `
				leader_max_leaders{instance="i1"} 2x100
				leader_active{instance="i1"} 1x100
				leader_active{instance="i2"} 1x100
				leader_backend_holder_info{instance="i2",backend="etcd",holder="h2"} 1x100`},
		{ID: "I6", Name: "an observer that labels holders with another key", Every: every, End: end,
			Load: campaigning + observing + `
				leader_active{instance="i1"} 1x100
				leader_active{instance="i2"} 0x100
			` + seen("leader_backend_holder_info", `lock_name="x",holder="k2:0011223344556677"`, "1x100")},
		{ID: "I7", Name: "two namespaces have a lock of one name, and one a witness", Every: every, End: end,
			Load: `
				leader_active{instance="i1",namespace="p"} 1x100
				leader_identity_info{instance="i1",namespace="p",holder="h1"} 1x100
				leader_elector_info{instance="i1",namespace="p",mode="hold"} 1x100
				leader_active{instance="i2",namespace="q"} 1x100
				leader_identity_info{instance="i2",namespace="q",holder="h2"} 1x100
				leader_elector_info{instance="i2",namespace="q",mode="hold"} 1x100
				leader_elector_info{instance="i3",namespace="q",mode="hold"} 1x100
				leader_backend_holder_info{instance="i3",namespace="q",backend="etcd",holder="h2"} 1x100`},
		{ID: "I8", Name: "a collector repeats what a leader said before it died", Every: every, End: end,
			Load: held + `
				leader_identity_info{instance="i1",holder="h1"} 1x20 stale
				leader_identity_info{instance="i2",holder="h2"} 1x100
				leader_active{instance="i1"} 1x20 stale
				leader_lease_expiry_timestamp_seconds{instance="i1"} 315x20 stale
				leader_active{instance="i2"} 0x10 1x90
				leader_backend_holder_info{instance="i2",backend="etcd",holder="h1"} 1x10 stale
				leader_backend_holder_info{instance="i2",backend="etcd",holder="h2"} _x11 1x90`},
		{ID: "I9", Name: "a leader whose backend nobody looks at", Every: every, End: end,
			Load: campaigning + `
				leader_active{instance="i1"} 1x100
				leader_active{instance="i2"} 0x100`},
		{ID: "I10", Name: "holders share a label", Every: every, End: end,
			Load: held + `
				leader_identity_info{instance="i1",holder="redacted"} 1x100
				leader_active{instance="i1"} 1x100
				leader_backend_holder_info{instance="i2",backend="etcd",holder="redacted"} 1x100`},
		{ID: "I11", Name: "a deposed leader steps down after five minutes", Every: every, End: end,
			Load: campaigning + `
				leader_active{instance="i1"} 1x20 0x80
				leader_active{instance="i2"} 0x100
				leader_backend_holder_info{instance="i2",backend="etcd",holder="h1"} 1x10 stale
				leader_backend_holder_info{instance="i2",backend="etcd",holder="stranger"} _x11 1x90
				leader_backend_held{instance="i2",backend="etcd"} 1x100`,
			Want: "Impostor/critical 6m30s..15m30s = 1\nNoLeader/critical 12m.. = 1"},
		{ID: "I12", Name: "a replica that redacts its holder is followed by one that does not", Every: every, End: end,
			Load: held + `
				leader_identity_info{instance="i1",holder="redacted"} 1x100
				leader_identity_info{instance="i2",holder="h2"} 1x100
				leader_active{instance="i1"} 0x10 1x90
				leader_active{instance="i2"} 1x10 0x90
				leader_backend_holder_info{instance="i2",backend="etcd",holder="h2"} 1x10 stale
				leader_backend_holder_info{instance="i2",backend="etcd",holder="h1"} _x11 1x90`},
		{ID: "I13", Name: "a witness begins to redact the holders", Every: every, End: end,
			Load: campaigning + `
				leader_active{instance="i1"} 1x100
				leader_active{instance="i2"} 0x100
				leader_backend_holder_info{instance="i2",backend="etcd",holder="h1"} 1x10 stale
				leader_backend_holder_info{instance="i2",backend="etcd",holder="redacted"} _x11 1x90`},
		{ID: "I14", Name: "a deposed leader whose clock is behind renews once a minute", Every: every, End: end,
			Load: campaigning + `
				leader_active{instance="i1"} 1x40
				leader_active{instance="i2"} 0x40
				leader_lease_expiry_timestamp_seconds{instance="i1"} -200 -140 -140 -80 -80 -20 -20 40 40 100 100 160 160 220 220 280 280 340 340 400 400 460 460 520 520 580 580 640 640 700 700 760 760 820 820 880 880 940 940 1000 1000
				leader_backend_holder_info{instance="i2",backend="etcd",holder="h1"} 1x10 stale
				leader_backend_holder_info{instance="i2",backend="etcd",holder="stranger"} _x11 1x30`,
			Want: "Impostor/critical 6m30s.. = 1"},
		{ID: "I15", Name: "a collector repeats what a leader said, and the next is named at once", Every: every, End: end,
			Load: campaigning + `
				leader_active{instance="i1"} 1x30 stale
				leader_active{instance="i2"} 0x10 1x90
				leader_lease_expiry_timestamp_seconds{instance="i1"} 15+30x9 285x21 stale
				leader_backend_holder_info{instance="i2",backend="etcd",holder="h1"} 1x10 stale
				leader_backend_holder_info{instance="i2",backend="etcd",holder="h2"} _x11 1x90`},
	}
}

// Process and backend agreed on the label of i0 long ago; i1 leads later.
func agreedLongAgo() []Scenario {
	const every, end = time.Minute, 85 * time.Minute
	const agreed = held + `
		leader_active{instance="i2"} 0x90
		leader_identity_info{instance="i1",holder="h1"} 1x90
	`
	return []Scenario{
		{ID: "I16", Name: "a stranger is named, 50 minutes after process and backend agreed", Every: every, End: end,
			Load: agreed + `
				leader_active{instance="i0"} 1x5 stale
				leader_identity_info{instance="i0",holder="h0"} 1x5 stale
				leader_active{instance="i1"} 0x49 1x40
				leader_backend_holder_info{instance="i2",backend="etcd",holder="h0"} 1x5 stale
				leader_backend_holder_info{instance="i2",backend="etcd",holder="stranger"} _x6 1x84
				leader_backend_held{instance="i2",backend="etcd"} 1x90`,
			Want: "Impostor/critical 51m..1h10m = 1\nNoLeader/critical 7m..50m = 1"},
		{ID: "I17", Name: "a stranger is named, 75 minutes after the backend named a candidate", Every: every, End: end,
			Load: agreed + `
				leader_active{instance="i0"} 1x5 0x85
				leader_identity_info{instance="i0",holder="h0"} 1x90
				leader_active{instance="i1"} 0x79 1x10
				leader_backend_holder_info{instance="i2",backend="etcd",holder="h0"} 1x5 stale
				leader_backend_holder_info{instance="i2",backend="etcd",holder="stranger"} _x6 1x84
				leader_backend_held{instance="i2",backend="etcd"} 1x90`,
			Want: "NoLeader/critical 7m..1h20m = 1"},
		{ID: "I18", Name: "the backend names a candidate that left 75 minutes ago", Every: every, End: end,
			Load: agreed + `
				leader_active{instance="i0"} 1x5 stale
				leader_identity_info{instance="i0",holder="h0"} 1x5 stale
				leader_active{instance="i1"} 0x79 1x10
				leader_backend_holder_info{instance="i2",backend="etcd",holder="h0"} 1x90
				leader_backend_held{instance="i2",backend="etcd"} 1x90`,
			Want: "NoLeader/warning 11m..1h23m = 1"},
	}
}

func blindScenarios() []Scenario {
	const end, every = 30 * time.Minute, 30 * time.Second
	const warned = `ObserverBlind/warning{job="observer",namespace="mon"} `
	return []Scenario{
		{ID: "Y1", Name: "the backend cannot be asked", Every: every, End: end,
			Load: seen("leader_backend_up", ``, "1x10 0x100") + seen("leader_backend_last_event_timestamp_seconds", `lock_name="ns/app"`, "0+30x10 300x100") + seen("leader_backend_last_event_timestamp_seconds", `lock_name="ns/b"`, "300x110"),
			Want: warned + "10m30s.. = 0"},
		{ID: "Y2", Name: "one of two observers cannot ask the backend", Every: every, End: end,
			Load: observing + `leader_backend_up{instance="o2",job="observer",namespace="mon",backend="kubernetes"} 0x100`},
		{ID: "Y3", Name: "the observer is gone", Every: every, End: 90 * time.Minute,
			Load: seen("leader_backend_up", ``, "1x10 stale"),
			Want: warned + "10m30s..1h5m = 1"},
		{ID: "Y4", Name: "an observer is replaced by another within four minutes", Every: every, End: end,
			Load: seen("leader_backend_up", ``, "1x10 stale") + `leader_backend_up{instance="o2",job="observer",namespace="mon",backend="kubernetes"} _x18 1x80`},
		{ID: "Y5", Name: "a witness wins and looks no more", Every: every, End: end,
			Load: held + `
				leader_active{instance="i1"} 0x10 1x90
				leader_active{instance="i2"} 1x10 0x90
				leader_backend_up{instance="i1",backend="etcd"} 1x10 stale`},
		{ID: "Y6", Name: "one of two backends cannot be asked", Every: every, End: end,
			Load: observing + seen("leader_backend_up", `backend="etcd"`, "1x10 0x100"),
			Want: warned + "10m30s.. = 0"},
		{ID: "Y7", Name: "a backend restarts in two minutes", Every: every, End: end,
			Load: seen("leader_backend_up", ``, "1x10 0x3 1x80")},
		{ID: "Y8", Name: "a server that never had an observer", Every: every, End: end,
			Load: held + `leader_active{instance="i1"} 1x100`},
	}
}
