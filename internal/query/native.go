package query

import (
	"math"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// NearLeaseNativeBound replaces catalog.NearLeaseBound if only native histograms are
// available. It is the next bucket bound at every resolution in use, so that whole
// buckets are counted: within a bucket, a server interpolates and would count a
// renewal in time as half a late one.
var NearLeaseNativeBound = math.Exp2(-0.25)

// nearLeaseNative counts the runs and renewals of a window that used more than
// NearLeaseNativeBound of their lease, from native histograms. The functions
// are part of every Prometheus since 2.40, and of no VictoriaMetrics.
func (s Scope) nearLeaseNative(window string) Expr {
	usage := s.Metric(catalog.LeaseUsageRatio)
	young := Op(lateShare(usage), "and", s.beganWithin(usage, window))
	return Op(young, "or", lateShare(Over("increase", usage, window)))
}

// lateShare counts the observations of a native histogram beyond the bound.
// There is no result where there are none.
func lateShare(usage Expr) Expr {
	beyond := Op(Call("histogram_fraction", Number(NearLeaseNativeBound), "+Inf", usage), "*", Call("histogram_count", usage))
	return Op(beyond, ">=", Number(0)) // drops NaN
}
