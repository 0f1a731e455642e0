package query

import (
	"math"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// NearLeaseNativeBound stands in for catalog.NearLeaseBound where there are
// native histograms alone. It is the next bound that buckets have at every
// resolution in use, so that whole buckets are counted: within a bucket a
// server guesses, and would make half a late renewal of one in good time.
var NearLeaseNativeBound = math.Exp2(-0.25)

// nearLeaseNative counts, since the process started, the runs and renewals
// that used more than NearLeaseNativeBound of their lease, from native
// histograms. There is no result where there are none, or an empty one. The
// functions are part of every server since 2.40; taking native histograms in
// is what older ones need a flag for.
func (s Scope) nearLeaseNative() Expr {
	usage := s.Metric(catalog.LeaseUsageRatio)
	beyond := Op(Call("histogram_fraction", Number(NearLeaseNativeBound), "+Inf", usage), "*", Call("histogram_count", usage))
	return Op(beyond, ">=", Number(0)) // drops NaN
}
