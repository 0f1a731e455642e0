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
	// Lookback is the window in which the backend must have named a candidate with the
	// label that the candidate exports: that proves that both label holders in the
	// same way.
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

func (k *Impostor) detect(d *detector) {
	d.level(k.Firing, "the win of the other process, or of the impostor if that is later", 0, 0, shorter+"; processes that do not export their identity")
}

// namedNow lists the holders that the backend names. An observer has another job, so
// the query uses only the labels that identify the lock for any reporter.
func (b builder) namedNow() string {
	return b.withQuery(b.scope.AnyReporter(), "topk(5, max by ("+query.HolderLabel+") (%s))", b.scope.Metric(catalog.BackendHolderInfo),
		" The backend names:"+holders)
}
