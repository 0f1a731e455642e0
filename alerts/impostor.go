package alerts

import (
	"fmt"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/condition"
	"github.com/leaderscope/leaderscope/internal/query"
)

// Impostor: a process exports that it leads, but the backend names another
// holder.
type Impostor struct {
	Firing `yaml:",inline"`
	// Lookback is how long ago the backend may have named a candidate by the
	// label that the candidate has for itself: proof that the two views spell
	// holders in one way.
	Lookback model.Duration `yaml:"lookback" help:"lookback window in which process and backend must once have agreed on the label of a holder"`
}

func (*Impostor) about() about {
	return about{
		Condition: condition.Impostor, id: "I",
		fires: "a process leads a lock, but the backend names another holder",
		note:  "A process leads a lock, but the backend names another holder.",
	}
}

func (k *Impostor) preset() { *k = Impostor{Firing: fires(critical, 1, 5), Lookback: minutes(60)} }

func (k *Impostor) validate(c check) {
	c.missed(k.Lookback, k.Firing)
	c.require(!k.Enabled || k.For >= c.config.sample(), "for", "%s is shorter than the time between two samples, %s, and a handover between the samples of two processes would page; use at least %s", k.For, c.config.sample(), c.config.sample())
}

func (k *Impostor) rules(b builder) []draft {
	s := b.scope
	expr := query.Op(s.By("count", s.Impostors(k.Lookback.String(), b.fresh().String())), ">", "0")

	return []draft{{
		firing: k.Firing, expr: expr,
		summary: "A process leads lock " + b.lock() + ", but the backend names another holder",
		description: fmt.Sprintf("Lock %s%s is led by {{ $value }} of its processes that the backend does not name as its holder: two processes may do the same work. "+
			"Stop each process that leads and that the backend does not name.%s%s", b.lock(), b.where(),
			b.replicas("Leading", "max by ("+b.HolderLabel+") (%s) > 0", s.Metric(catalog.Active)), b.namedNow()),
	}}
}

// namedNow tells whom the backend names. An observer has another job, so the
// lock is looked up by what tells locks apart for any reporter.
func (b builder) namedNow() string {
	return b.withQuery(b.scope.AnyReporter(), "topk(5, max by ("+query.HolderLabel+") (%s))", b.scope.Metric(catalog.BackendHolderInfo),
		" The backend names:"+holders)
}
