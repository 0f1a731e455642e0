// Package kube watches the Leases of a Kubernetes cluster, one watch for the
// cluster or for each namespace.
package kube

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"

	"github.com/leaderscope/leaderscope/cmd/leader-observer/internal/observe"
	"github.com/leaderscope/leaderscope/instrument"
)

const (
	// tick is how often leases are checked for ends that have passed.
	tick = 250 * time.Millisecond
	// affirm is how often a vacancy is reported again, for which there is no event.
	affirm = 5 * time.Second
	// askTimeout limits a query for one lease.
	askTimeout = 5 * time.Second
	// page is the page size of a list.
	page = 500
	// watchFor is how long one watch lasts. The server may end it sooner; the next
	// watch continues where it ended.
	watchFor = 10 * time.Minute
	// asks is the number of concurrent queries.
	asks = 8

	// nodeLeases is the namespace of the leases of nodes, which elect no leader.
	nodeLeases = "kube-node-lease"
	// serverLeases is the label of the leases of API servers.
	serverLeases = "apiserver.kubernetes.io/identity"
)

// Source watches the Leases of a cluster.
type Source struct {
	// Namespace is empty for all namespaces.
	Namespace string
	// LabelSelector and Names restrict the leases; empty: all leases.
	LabelSelector string
	Names         []string
	// WithSystem includes the leases of nodes and API servers.
	WithSystem bool
	// LockName is the template for the name of a lock, with {namespace} and {name}.
	LockName string

	client  coordination.CoordinationV1Interface
	backend *observe.Backend
	leases  map[string]*lease // by namespace and name
	ticked  time.Time         // when leases were looked through last
}

// suspended reports whether this process was suspended, so that events arriving now
// may be old.
func (s *Source) suspended(now time.Time) bool { return now.Sub(s.ticked) > 4*tick }

// Watch makes a Source of a cluster ready to Run.
func (s Source) Watch(config *rest.Config, b *observe.Backend) (*Source, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = 50, 100
	client, err := coordination.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connect to Kubernetes: %w", err)
	}
	s.client, s.backend, s.leases = client, b, map[string]*lease{}
	return &s, nil
}

// Run lists the leases and watches them from there, until the server is lost.
func (s *Source) Run(ctx context.Context) error {
	for {
		version, err := s.list(ctx)
		for err == nil {
			version, err = s.watch(ctx, version)
		}
		if !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) { // else the server has forgotten where to continue
			return err
		}
	}
}

func (s *Source) options() metav1.ListOptions {
	o := metav1.ListOptions{LabelSelector: s.LabelSelector}
	if s.WithSystem {
		return o
	}
	if s.Namespace == "" {
		o.FieldSelector = "metadata.namespace!=" + nodeLeases
	}
	o.LabelSelector = strings.Trim(o.LabelSelector+",!"+serverLeases, ",")
	return o
}

// list reads the current leases. Leases that are not in it are gone.
func (s *Source) list(ctx context.Context) (version string, err error) {
	there := map[string]bool{}
	o := s.options()
	for o.Limit = page; ; {
		items, err := s.client.Leases(s.Namespace).List(ctx, o)
		if err != nil {
			return "", fmt.Errorf("list leases: %w", err)
		}
		for i := range items.Items {
			there[s.sees(&items.Items[i], time.Now(), false)] = true
		}
		version = items.ResourceVersion
		if o.Continue = items.Continue; o.Continue == "" {
			break
		}
	}
	for key, l := range s.leases {
		if !there[key] {
			l.goes()
		}
	}
	s.backend.Up()
	return version, nil
}

// watch applies events until the server ends the watch, and returns the version to
// continue from.
func (s *Source) watch(ctx context.Context, version string) (string, error) {
	o := s.options()
	seconds := int64(watchFor / time.Second)
	o.ResourceVersion, o.AllowWatchBookmarks, o.TimeoutSeconds = version, true, &seconds
	w, err := s.client.Leases(s.Namespace).Watch(ctx, o)
	if err != nil {
		return "", fmt.Errorf("watch leases: %w", err)
	}
	defer w.Stop()
	asking, stop := context.WithCancel(ctx)
	defer stop()
	q := newQuestions(asking, s.client)
	for _, l := range s.leases {
		l.asked = false // of the watch before
	}
	ticks := time.NewTicker(tick)
	defer ticks.Stop()
	affirmed := time.Now()
	s.ticked = affirmed
	for {
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case e, open := <-w.ResultChan():
			if !open {
				return version, nil
			}
			if version, err = s.event(e, version); err != nil {
				return "", err
			}
		case a := <-q.answers:
			if err := s.answer(a); err != nil {
				return "", err
			}
		case <-ticks.C:
			now := time.Now()
			s.ticked = now
			s.ask(q, now)
			if now.Sub(affirmed) >= affirm {
				affirmed = now
				s.affirm()
			}
		}
	}
}

func (s *Source) event(e watch.Event, version string) (string, error) {
	switch e.Type {
	case watch.Error:
		return "", fmt.Errorf("watch leases: %w", apierrors.FromObject(e.Object))
	case watch.Bookmark:
		if o, ok := e.Object.(*coordinationv1.Lease); ok {
			return o.ResourceVersion, nil
		}
		return version, nil
	}
	o, ok := e.Object.(*coordinationv1.Lease)
	if !ok {
		return version, nil
	}
	if e.Type == watch.Deleted {
		if l := s.leases[keyOf(o)]; l != nil {
			l.goes()
		}
	} else {
		s.sees(o, time.Now(), e.Type == watch.Added)
	}
	return o.ResourceVersion, nil
}

func keyOf(o *coordinationv1.Lease) string { return o.Namespace + "/" + o.Name }

// sees applies a lease, and returns its key; made means that the lease was created
// just now, so that the lock had no holder before. To watch several names, all
// leases are watched, because a server can select by one name at most.
func (s *Source) sees(o *coordinationv1.Lease, now time.Time, made bool) string {
	key := keyOf(o)
	if !s.wants(o) {
		return key
	}
	l := s.leases[key]
	if l == nil {
		l = &lease{namespace: o.Namespace, name: o.Name}
		l.lock = s.backend.Lock(s.lockName(l))
		s.leases[key] = l
		if made {
			l.lock.Sees(instrument.BackendView{State: instrument.BackendVacant})
		}
	}
	l.sees(recordOf(o), versionOf(o), now, s.suspended(now))
	return key
}

func (s *Source) wants(o *coordinationv1.Lease) bool {
	if !s.WithSystem && (o.Namespace == nodeLeases || o.Labels[serverLeases] != "") {
		return false
	}
	if len(s.Names) == 0 {
		return true
	}
	for _, name := range s.Names {
		if name == o.Name {
			return true
		}
	}
	return false
}

// ask queries each lease whose end has passed: the end proves nothing while a
// renewal may be in flight, or if this process was suspended.
func (s *Source) ask(q *questions, now time.Time) {
	for _, l := range s.leases {
		if l.isOver(now) && !l.asked && q.ask(l) {
			l.asked = true
		}
	}
}

func (s *Source) answer(a answer) error {
	a.of.asked = false
	switch {
	case apierrors.IsNotFound(a.err):
		a.of.goes()
	case a.err != nil:
		return fmt.Errorf("get a lease: %w", errors.New(string(apierrors.ReasonForError(a.err)))) // without its name
	default:
		a.of.sees(recordOf(a.lease), versionOf(a.lease), time.Now(), true)
	}
	return nil
}

// affirm repeats reports for which there is no event, and removes what is gone.
func (s *Source) affirm() {
	for _, l := range s.leases {
		l.affirm()
	}
	for _, name := range s.backend.Sweep() {
		for key, l := range s.leases {
			if l.gone && s.lockName(l) == name {
				delete(s.leases, key)
			}
		}
	}
}

func (s *Source) lockName(l *lease) string {
	return strings.NewReplacer("{namespace}", l.namespace, "{name}", l.name).Replace(s.LockName)
}
