package query

import "github.com/leaderscope/leaderscope/instrument/catalog"

// FailedRenewal keeps renewals that met an error or their deadline. One that
// was canceled belongs to a shutdown, and one that found the lock lost has its
// answer.
func FailedRenewal() Matcher {
	return Matches(renewalResult(), catalog.RenewalError.String()+"|"+catalog.RenewalTimeout.String())
}

// FailedRenewalShare is the share of renewals that failed, where more than so
// many did; those that were canceled count on neither side.
func (s Scope) FailedRenewalShare(window string, more Expr) Expr {
	failed := s.Increased(catalog.Renewals, window, FailedRenewal())
	all := s.Increased(catalog.Renewals, window, Unequal(renewalResult(), catalog.RenewalCanceled.String()))
	return Op(Op(failed, ">", more), "/", all)
}

func renewalResult() string {
	result, _ := catalog.Renewals.Label("result")
	return result.Name()
}
