package alerts

import (
	"fmt"

	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/condition"
	"github.com/leaderscope/leaderscope/internal/query"
)

// ScrapeFailing: replicas that exported metrics cannot be scraped.
type ScrapeFailing struct {
	Firing `yaml:",inline"`
	// Lookback bounds how long a replica that is down is missed.
	Lookback model.Duration `yaml:"lookback" help:"how long the alert fires for a replica that is down"`
}

func (*ScrapeFailing) about() about {
	return about{
		Condition: condition.ScrapeFailing, id: "U",
		fires: "replicas that exported metrics cannot be scraped",
		note:  "Replicas that exported metrics cannot be scraped.",
	}
}

func (k *ScrapeFailing) preset() {
	*k = ScrapeFailing{Firing: fires(warning, 5, 5), Lookback: minutes(60)}
}

func (k *ScrapeFailing) validate(c check) { c.missed(k.Lookback, k.Firing) }

func (k *ScrapeFailing) rules(b builder) []draft {
	s, targets := b.scope, b.scope.TargetLabels()
	replica := append(s.TargetLabels(), s.Holder)

	// Only targets that exported something about locks lately: a job may be a
	// catch-all (U3).
	exported := query.By("group", replica, query.Over("last_over_time", s.Metric(catalog.Active), k.Lookback.String()))
	down := query.Op(query.By("max", replica, query.Op(s.Up(), "== bool", "0")), "and", exported)
	// One alert for a job, whichever of its pods are down (C40).
	expr := query.Op(query.By("sum", targets, down), ">", "0")

	list := fmt.Sprintf(`{{ range sortByLabel %[1]q . }} {{ label %[1]q . }}{{ end }}`, b.HolderLabel)
	return []draft{{
		firing: k.Firing, expr: expr,
		summary: fmt.Sprintf("Replicas%s cannot be scraped", b.where()),
		description: fmt.Sprintf("{{ $value }} of the replicas%s that exported leader election metrics could not be scraped for more than %s: one of them may lead. "+
			"Check that they run, and that Prometheus can reach them.%s",
			b.where(), k.For, b.withQuery(targets, "topk(5, max by ("+b.HolderLabel+") (%s == 0))", s.Up(), " Targets that are down:"+list+".")),
	}}
}

func (k *ScrapeFailing) detect(d *detector) {
	d.level(k.Firing, "the first scrape that fails", 0, 0, shorter+"; push pipelines")
}
