package alerts

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/condition"
	"github.com/leaderscope/leaderscope/internal/query"
)

// Vacant: the backend has named no live holder of a lock that is meant to be held.
// The processes that campaign for it need not be instrumented.
type Vacant struct {
	Firing `yaml:",inline"`
	// Backends matches the backends whose locks are held for as long as their program
	// runs, as an anchored regular expression. On other backends, the alert covers
	// locks that instrumented candidates declare as held.
	Backends string `yaml:"backends" help:"regular expression of backends whose locks are always meant to be held"`
	// Lookback is how long ago a lock without a holder may have been held.
	Lookback model.Duration `yaml:"lookback" help:"how long the alert fires for a lock without a holder; after that, the lock counts as retired"`
}

func (*Vacant) about() about {
	return about{
		Condition: condition.Vacant, id: "X",
		fires: "the backend has named no live holder of a lock that is meant to be held",
		note:  "The backend has named no live holder of a lock for too long, as reported by leader-observer or a standby.",
	}
}

func (k *Vacant) preset() {
	*k = Vacant{Firing: fires(critical, 1, 0), Backends: "kubernetes", Lookback: minutes(6 * 60)}
}

func (k *Vacant) validate(c check) {
	c.missed(k.Lookback, k.Firing)
	if !k.Enabled {
		return
	}
	c.require(k.For >= c.config.sample(), "for", "%s is shorter than the time between two samples, %s, so a handover that one sample shows would page; use at least %s", k.For, c.config.sample(), c.config.sample())
	_, err := regexp.Compile("^(?:" + k.Backends + ")$")
	c.require(err == nil, "backends", "%q is not a valid regular expression (%v); write it as in kubernetes|etcd", k.Backends, err)
	c.require(!strings.Contains(k.Backends, "{{"), "backends", "%q contains double braces, which alert templates would expand; write them as [{][{]", k.Backends)
}

func (k *Vacant) rules(b builder) []draft {
	s := b.scope
	onLock := query.On(s.BackendLabels())

	// A record that never had a holder belongs to a program that is gone (X6).
	// Another reporter may have older data (X4).
	free := query.Op(s.Free(single), "and "+onLock, s.HeldWithin(k.Lookback.String(), single))
	// A lock around single runs is free most of the time (X7, X8).
	mode, _ := catalog.ElectorInfo.Label("mode")
	run := s.Metric(catalog.ElectorInfo, single, query.Equal(mode.Name(), catalog.ModeRun.String()))
	meant := query.Op(
		s.Metric(catalog.BackendHeld, single, query.Matches(backendLabel, k.Backends)), "or",
		s.OfAnyReporter("and", s.Metric(catalog.BackendHeld, single), s.HoldInfo(single)))
	expr := query.Op(free, "and "+onLock, s.OfAnyReporter("unless", meant, run))

	return []draft{{
		firing: k.Firing, expr: expr, ownBackend: true,
		summary: "No process holds lock " + b.lock(),
		description: fmt.Sprintf("The backend {{ $labels.%s }} has named no live holder of lock %s for %s: the leader's work is not being done. "+
			"Check that candidates run and can reach the backend.%s%s",
			backendLabel, b.lock(), k.For, b.lastHolders(k.Lookback), b.reporters()),
	}}
}

func (k *Vacant) detect(d *detector) {
	d.level(k.Firing, "the end of the lease or session", 0, 0, shorter+"; changes between two polls of a backend that is polled")
}

// lastHolders lists the holders that the backend named.
func (b builder) lastHolders(lookback model.Duration) string {
	return b.withQuery(b.ScopeLabels, "topk(5, max by ("+query.HolderLabel+") (last_over_time(%s["+lookback.String()+"])))", b.scope.Metric(catalog.BackendHolderInfo),
		" Holders within the last "+lookback.String()+":"+holders)
}

// holders lists the holders of a result by name.
const holders = "{{ range sortByLabel \"" + query.HolderLabel + "\" . }} {{ label \"" + query.HolderLabel + "\" . }}{{ end }}."

// reporters lists the processes that report the state of the backend.
func (b builder) reporters() string {
	return b.replicas("Reported by", "max by ("+b.HolderLabel+") (%s)", b.scope.Metric(catalog.BackendHeld))
}
