package kube

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/leaderscope/leaderscope/cmd/leader-observer/internal/observe/observetest"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

// fixture is a Source without a server: the test says what the server tells.
type fixture struct {
	*testing.T
	*Source
	m       *instrument.Middleware
	version int
	micros  int64
	asked   int // questions that were answered
}

func newFixture(t *testing.T, s Source, forget time.Duration) *fixture {
	t.Helper()
	backend := observetest.New(t, forget)
	s.leases, s.ticked = map[string]*lease{}, time.Now()
	s.backend = backend.Backend
	if s.LockName == "" {
		s.LockName = "{name}"
	}
	return &fixture{T: t, Source: &s, m: backend.Middleware}
}

// object is a lease whose record was written just now.
func (f *fixture) object(holder string, transitions int32) *coordinationv1.Lease {
	f.version++
	f.micros++
	length, renewed := int32(15), metav1.NewMicroTime(time.UnixMicro(f.micros))
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "lock", ResourceVersion: fmt.Sprint(f.version)},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &length, RenewTime: &renewed, LeaseTransitions: &transitions},
	}
}

func (f *fixture) happens(kind watch.EventType, o *coordinationv1.Lease) {
	f.Helper()
	if _, err := f.event(watch.Event{Type: kind, Object: o}, ""); err != nil {
		f.Fatal(err)
	}
}

// passes lets time pass, with the ticks of the watch.
func (f *fixture) passes(d time.Duration, confirm *coordinationv1.Lease) {
	f.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); {
		time.Sleep(tick)
		f.ticked = time.Now()
		for _, l := range f.leases {
			if confirm != nil && l.isOver(f.ticked) {
				f.asked++
				if err := f.answer(answer{of: l, lease: confirm}); err != nil {
					f.Fatal(err)
				}
			}
		}
		if time.Now().UnixNano()%int64(affirm) == 0 {
			f.affirm()
		}
	}
}

func (f *fixture) shows(at string, want electtest.Series) {
	f.Helper()
	got := electtest.Series{}
	for key, v := range electtest.ReadBackend(f.m, "lock") {
		switch key {
		case `leader_backend_held{backend="b"}`, `leader_backend_terms_total{backend="b"}`, `leader_backend_vacant_seconds_total{backend="b"}`,
			`leader_backend_handover_seconds_count{backend="b"}`, `leader_backend_handover_seconds_sum{backend="b"}`:
			got[key[len("leader_backend_"):len(key)-len(`{backend="b"}`)]] = v
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		f.Errorf("%s (-want +got):\n%s", at, diff)
	}
}

func held(terms, vacant float64) electtest.Series {
	return electtest.Series{"held": 1, "terms_total": terms, "vacant_seconds_total": vacant}
}

func free(terms, vacant float64) electtest.Series {
	return held(terms, vacant).With(electtest.Series{"held": 0})
}

func gaps(n, sum float64) electtest.Series {
	return electtest.Series{"handover_seconds_count": n, "handover_seconds_sum": sum}
}

func TestWhatEventsShowOfALease(t *testing.T) {
	for name, play := range map[string]func(*fixture){
		"made while it is watched": func(f *fixture) {
			f.happens(watch.Added, f.object("a", 0))
			f.shows("made", held(1, 0))
		},
		"found": func(f *fixture) {
			f.sees(f.object("a", 0), time.Now(), false)
			f.shows("found", held(0, 0))
		},
		"released, and taken": func(f *fixture) {
			f.happens(watch.Added, f.object("a", 0))
			f.passes(2*time.Second, nil)
			f.happens(watch.Modified, f.object("", 0))
			f.passes(3*time.Second, nil)
			f.shows("released", free(1, 3))
			f.happens(watch.Modified, f.object("b", 1))
			f.shows("taken", held(2, 3).With(gaps(1, 3)))
		},
		"deleted, and made again": func(f *fixture) {
			f.happens(watch.Added, f.object("a", 0))
			f.happens(watch.Deleted, f.object("a", 0))
			f.passes(3*time.Second, nil)
			f.shows("deleted", free(1, 3))
			f.happens(watch.Added, f.object("a", 0))
			f.shows("made again", held(2, 3).With(gaps(1, 3)))
		},
		"deleted, and restored as it was": func(f *fixture) {
			o := f.object("a", 0)
			f.happens(watch.Added, o)
			f.happens(watch.Deleted, o)
			f.happens(watch.Added, o)
			f.passes(16*time.Second, o)
			f.shows("after its end", free(2, 1).With(gaps(1, 0)))
		},
		"not renewed, as the server confirms": func(f *fixture) {
			o := f.object("a", 0)
			f.happens(watch.Added, o)
			f.passes(15*time.Second-tick, o)
			f.shows("before its end", held(1, 0))
			f.passes(5*time.Second+tick, o)
			f.shows("after its end", free(1, 5))
			f.passes(60*time.Second, o)
			f.shows("a minute later", free(1, 65))
			if f.asked != 1 {
				f.Errorf("the server was asked %d times", f.asked)
			}
			f.happens(watch.Modified, f.object("a", 0))
			f.shows("renewed again", held(2, 65).With(gaps(1, 65)))
		},
		"not renewed, and the server has not answered": func(f *fixture) {
			f.happens(watch.Added, f.object("a", 0))
			f.passes(16*time.Second, nil)
			f.shows("after its end", held(1, 0))
			f.happens(watch.Modified, f.object("a", 0))
			f.shows("a renewal that was under way", held(1, 0))
		},
		"taken after its end, before the server has answered": func(f *fixture) {
			f.happens(watch.Added, f.object("a", 0))
			f.passes(16*time.Second, nil)
			f.happens(watch.Modified, f.object("b", 1))
			f.shows("taken", held(2, 1).With(gaps(1, 1)))
		},
		"taken while this process was suspended": func(f *fixture) {
			f.happens(watch.Added, f.object("a", 0))
			time.Sleep(20 * time.Second)
			f.happens(watch.Modified, f.object("b", 1))
			f.shows("taken", held(2, 0).With(gaps(1, 0)))
		},
		"an answer that an event has overtaken": func(f *fixture) {
			old := f.object("a", 0)
			f.happens(watch.Added, old)
			f.happens(watch.Modified, f.object("b", 1))
			if err := f.answer(answer{of: f.leases["ns/lock"], lease: old}); err != nil {
				f.Fatal(err)
			}
			f.shows("afterwards", held(2, 0).With(gaps(1, 0)))
		},
		"a holder without a length": func(f *fixture) {
			o := f.object("a", 0)
			o.Spec.LeaseDurationSeconds = nil
			f.happens(watch.Added, o)
			f.passes(time.Minute, nil)
			f.shows("a minute later", held(1, 0))
		},
		"a lease without a holder": func(f *fixture) {
			o := f.object("a", 0)
			o.Spec = coordinationv1.LeaseSpec{}
			f.happens(watch.Added, o)
			f.passes(3*time.Second, nil)
			f.shows("later", free(0, 3))
		},
		"nothing comes any more": func(f *fixture) { // the process is stuck, or was suspended
			f.happens(watch.Added, f.object("a", 0))
			time.Sleep(15*time.Second + patience + tick)
			f.shows("later", held(1, 0).Without("held"))
		},
		"gone for good": func(f *fixture) {
			f.happens(watch.Added, f.object("a", 0))
			f.happens(watch.Deleted, f.object("a", 0))
			f.passes(time.Hour+2*affirm, nil)
			f.shows("an hour later", electtest.Series{})
			if len(f.leases) != 0 {
				f.Error("the lease is still kept")
			}
			f.happens(watch.Added, f.object("b", 0))
			f.shows("made again", held(1, 0))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { play(newFixture(t, Source{}, time.Hour)) })
		})
	}
}

// A Lease need not have each field. Without a length it has no end, and is held
// until its holder releases it, or it is deleted.
func TestWhatALeaseWithMissingFieldsShows(t *testing.T) {
	const (
		named, length, end = "leader_backend_holder_info", "leader_backend_lease_duration_seconds", "leader_backend_lease_expiry_timestamp_seconds"
	)
	type shown struct {
		held  float64
		terms float64
		known []string
	}
	endless, ending, over, vacant := []string{named}, []string{named, length, end}, []string{length, end}, []string(nil)
	number := func(n int32) *int32 { return &n }
	for name, c := range map[string]struct {
		miss       func(*coordinationv1.LeaseSpec)
		soon, late shown // one second and five minutes after it was made, without a renewal
	}{
		"nothing": {func(*coordinationv1.LeaseSpec) {}, shown{1, 1, ending}, shown{0, 1, over}},
		"the length": {func(s *coordinationv1.LeaseSpec) { s.LeaseDurationSeconds = nil },
			shown{1, 1, endless}, shown{1, 1, endless}},
		"the length, which is 0": {func(s *coordinationv1.LeaseSpec) { s.LeaseDurationSeconds = number(0) },
			shown{1, 1, endless}, shown{1, 1, endless}},
		"the length, which is negative": {func(s *coordinationv1.LeaseSpec) { s.LeaseDurationSeconds = number(-15) },
			shown{1, 1, endless}, shown{1, 1, endless}},
		"the time of renewal": {func(s *coordinationv1.LeaseSpec) { s.RenewTime = nil },
			shown{1, 1, ending}, shown{0, 1, over}},
		"the length and the time of renewal": {func(s *coordinationv1.LeaseSpec) { s.LeaseDurationSeconds, s.RenewTime = nil, nil },
			shown{1, 1, endless}, shown{1, 1, endless}},
		"the holder": {func(s *coordinationv1.LeaseSpec) { s.HolderIdentity = nil },
			shown{0, 0, vacant}, shown{0, 0, vacant}},
		"the holder, which is empty": {func(s *coordinationv1.LeaseSpec) { *s.HolderIdentity = "" },
			shown{0, 0, vacant}, shown{0, 0, vacant}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, Source{}, time.Hour)
				look := func() (s shown) {
					all := electtest.ReadBackend(f.m, "lock")
					s.held, s.terms = -1, all[`leader_backend_terms_total{backend="b"}`]
					if v, is := all[`leader_backend_held{backend="b"}`]; is {
						s.held = v
					}
					for _, metric := range []string{named, length, end} {
						for key := range all {
							if strings.HasPrefix(key, metric+"{") {
								s.known = append(s.known, metric)
							}
						}
					}
					return s
				}
				o := f.object("a", 0)
				c.miss(&o.Spec)
				f.happens(watch.Added, o)
				f.passes(time.Second, o)
				soon := look()
				f.passes(5*time.Minute, o)
				if diff := cmp.Diff([]shown{c.soon, c.late}, []shown{soon, look()}, cmp.AllowUnexported(shown{})); diff != "" {
					t.Errorf("a second and five minutes later (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestALeaseWithoutALengthEndsLikeAnyOther(t *testing.T) {
	for name, play := range map[string]func(*fixture){
		"released": func(f *fixture) {
			f.happens(watch.Modified, f.object("", 0))
			f.passes(3*time.Second, nil)
			f.shows("released", free(1, 3))
		},
		"deleted": func(f *fixture) {
			f.happens(watch.Deleted, f.object("a", 0))
			f.passes(3*time.Second, nil)
			f.shows("deleted", free(1, 3))
		},
		"taken": func(f *fixture) {
			f.happens(watch.Modified, f.object("b", 1))
			f.shows("taken", held(2, 0).With(gaps(1, 0)))
		},
		"renewed with a length": func(f *fixture) {
			o := f.object("a", 0)
			f.happens(watch.Modified, o)
			f.passes(20*time.Second, o)
			f.shows("after its end", free(1, 5))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, Source{}, time.Hour)
				o := f.object("a", 0)
				o.Spec.LeaseDurationSeconds = nil
				f.happens(watch.Added, o)
				f.passes(time.Minute, nil)
				play(f)
			})
		})
	}
}

func TestWhichLeasesAreWatched(t *testing.T) {
	object := func(namespace, name string, labels map[string]string) *coordinationv1.Lease {
		return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels}}
	}
	all := []*coordinationv1.Lease{
		object("kube-node-lease", "node-1", nil),
		object("kube-system", "apiserver-1", map[string]string{serverLeases: "kube-apiserver"}),
		object("kube-system", "kube-scheduler", nil),
		object("apps", "reconciler", nil),
	}
	for name, c := range map[string]struct {
		source Source
		want   []string
	}{
		"all that elect":      {Source{}, []string{"kube-scheduler", "reconciler"}},
		"those of the system": {Source{WithSystem: true}, []string{"node-1", "apiserver-1", "kube-scheduler", "reconciler"}},
		"by name":             {Source{Names: []string{"reconciler", "x"}}, []string{"reconciler"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, o := range all {
				if c.source.wants(o) {
					got = append(got, o.Name)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	for want, s := range map[string]Source{
		"metadata.namespace!=kube-node-lease / !apiserver.kubernetes.io/identity": {},
		" / app=x,!apiserver.kubernetes.io/identity":                              {Namespace: "ns", LabelSelector: "app=x"},
		" / app=x": {LabelSelector: "app=x", WithSystem: true},
	} {
		o := s.options()
		if got := o.FieldSelector + " / " + o.LabelSelector; got != want {
			t.Errorf("asks for %q, want %q", got, want)
		}
	}
}
