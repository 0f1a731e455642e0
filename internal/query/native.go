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

// NearLeaseNative counts the runs and renewals of a window that used more than
// NearLeaseNativeBound of their lease, from native histograms. There is no
// result where there are none. The functions are part of every server since
// 2.40; taking native histograms in is what older ones need a flag for.
func (s Scope) NearLeaseNative(window string) Expr {
	return beyondNative(s.Increased(catalog.LeaseUsageRatio, window))
}

// beyondNative counts the observations of a native histogram above the bound.
func beyondNative(usage Expr) Expr {
	return Op(Call("histogram_fraction", Number(NearLeaseNativeBound), "+Inf", usage), "*", Call("histogram_count", usage))
}

// Observed counts the observations of a histogram in a window, from its
// classic series or else from the native ones.
func (s Scope) Observed(m *catalog.Metric, window string) Expr {
	classic := s.By("sum", Over("increase", s.Count(m), window))
	return Op(classic, "or", Call("histogram_count", s.Increased(m, window)))
}
