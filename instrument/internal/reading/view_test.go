package reading

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/instrument/internal/lock"
	"github.com/leaderscope/leaderscope/instrument/internal/registry"
)

// seen is a view after some looks.
func seen(polls ...lock.Look) lock.Sight {
	s := &lock.State{Params: &lock.Params{}}
	for _, l := range polls {
		s.Look(l)
	}
	var lastSeen lock.Sight
	s.AddSight(&lastSeen, moment(100*time.Second))
	return lastSeen
}

func TestTheBackendsViewBecomesSeries(t *testing.T) {
	held := lock.Look{Now: at(10 * time.Second), Standing: lock.Held, Holder: 1, Label: "pod-a", Token: 7, Counted: true, End: at(25 * time.Second), Length: 15 * time.Second, Every: 2 * time.Second}
	vacant := lock.Look{Now: at(20 * time.Second), Standing: lock.Vacant}
	next := held
	next.Now, next.Holder, next.Label, next.Token, next.End = at(26*time.Second), 2, "pod-b", 8, at(41*time.Second)
	all := `
		leader_backend_held backend=k8s 1
		leader_backend_holder_info backend=k8s holder=pod-b 1
		leader_backend_lease_expiry_timestamp_seconds backend=k8s 1041
		leader_backend_lease_duration_seconds backend=k8s 15
		leader_backend_token backend=k8s 8
		leader_backend_last_event_timestamp_seconds backend=k8s 1026
		leader_backend_terms_total backend=k8s 1
		leader_backend_vacant_seconds_total backend=k8s 6
		leader_backend_handover_seconds backend=k8s 1/6
	`
	for _, c := range []struct {
		name     string
		lastSeen lock.Sight
		want     string
	}{
		{"a holder after a gap", seen(held, vacant, next), all},
		{"nothing is known of it but that somebody looks", seen(lock.Look{Now: at(time.Second)}), `
			leader_backend_terms_total backend=k8s 0
			leader_backend_vacant_seconds_total backend=k8s 0
		`},
		{"the backend cannot be asked any more", seen(held, lock.Look{Now: at(20 * time.Second)}), `
			leader_backend_last_event_timestamp_seconds backend=k8s 1010
			leader_backend_terms_total backend=k8s 0
			leader_backend_vacant_seconds_total backend=k8s 0
		`},
		{"nobody looks any more", seen(held, vacant, lock.Look{Now: at(22 * time.Second), Standing: lock.Unwatched}), `
			leader_backend_terms_total backend=k8s 0
			leader_backend_vacant_seconds_total backend=k8s 2
		`},
		{"a holder without a name, a lease or a token", seen(lock.Look{Now: at(10 * time.Second), Standing: lock.Held}), `
			leader_backend_held backend=k8s 1
			leader_backend_last_event_timestamp_seconds backend=k8s 1010
			leader_backend_terms_total backend=k8s 0
			leader_backend_vacant_seconds_total backend=k8s 0
		`},
		{"a lease that has ended stays to be seen", seen(held, lock.Look{Now: at(30 * time.Second), Standing: lock.Held, Holder: 1, Label: "pod-a", End: at(25 * time.Second)}), `
			leader_backend_held backend=k8s 0
			leader_backend_lease_expiry_timestamp_seconds backend=k8s 1025
			leader_backend_last_event_timestamp_seconds backend=k8s 1030
			leader_backend_terms_total backend=k8s 0
			leader_backend_vacant_seconds_total backend=k8s 75
		`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &registry.Reading{Views: []registry.View{{Backend: "k8s", Sight: c.lastSeen}}}
			got := written(func(w Writer) { (&output{w: w}).views(r) })
			if diff := cmp.Diff(want(c.want), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestIdentitiesAreSeriesOfTheLock(t *testing.T) {
	r := &registry.Reading{Identities: []string{"pod-a", "pod-b"}, Views: []registry.View{{Backend: "etcd"}}}
	got := written(func(w Writer) { (&output{w: w}).views(r) })
	if diff := cmp.Diff(want(`
		leader_identity_info holder=pod-a 1
		leader_identity_info holder=pod-b 1
		leader_backend_terms_total backend=etcd 0
		leader_backend_vacant_seconds_total backend=etcd 0
	`), got); diff != "" {
		t.Error(diff)
	}
}

func TestABackendIsUpWhileEveryViewOfItIsBelieved(t *testing.T) {
	view := func(backend string, watched, known int, every time.Duration) registry.View {
		return registry.View{Backend: backend, Sight: lock.Sight{Watched: watched, Known: known, Every: every}}
	}
	for _, c := range []struct {
		name    string
		reached map[string]bool
		views   []registry.View
		want    string
	}{
		{"nothing was ever looked at", nil, nil, ``},
		{"one that nobody looks at any more", nil, []registry.View{view("etcd", 0, 0, 0)}, ``},
		{"all that is watched is believed", nil, []registry.View{view("etcd", 2, 2, 0), view("etcd", 1, 1, 0)}, `leader_backend_up backend=etcd 1`},
		{"one of several is not", nil, []registry.View{view("etcd", 2, 1, 0), view("etcd", 1, 1, 0)}, `leader_backend_up backend=etcd 0`},
		{"the next one is not either way round", nil, []registry.View{view("etcd", 1, 1, 0), view("etcd", 2, 1, 0)}, `leader_backend_up backend=etcd 0`},
		{"the longest interval of several backends", nil, []registry.View{view("redis", 1, 1, 5*time.Second), view("etcd", 1, 0, 0), view("redis", 1, 1, 2*time.Second)}, `
			leader_backend_up backend=etcd 0
			leader_backend_up backend=redis 1
			leader_backend_poll_interval_seconds backend=redis 5
		`},
		{"the program says so before any lock is seen", map[string]bool{"etcd": true, "redis": false}, nil, `
			leader_backend_up backend=etcd 1
			leader_backend_up backend=redis 0
		`},
		{"the program and the views", map[string]bool{"a": true, "b": false, "c": true}, []registry.View{view("a", 1, 1, 0), view("b", 1, 1, 0), view("c", 2, 1, 0)}, `
			leader_backend_up backend=a 1
			leader_backend_up backend=b 0
			leader_backend_up backend=c 0
		`},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := NewBackends(c.reached)
			for i := range c.views {
				b.Add(c.views[i : i+1])
			}
			if diff := cmp.Diff(want(c.want), written(b.write)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
