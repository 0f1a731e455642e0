package query

import "github.com/leaderscope/leaderscope/instrument/catalog"

// FailedRenewal keeps renewals that met an error or exceeded their deadline. Canceled
// renewals belong to a shutdown, and renewals that report the lock as lost are not
// failures.
func FailedRenewal() Matcher {
	return Matches(renewalResult(), catalog.RenewalError.String()+"|"+catalog.RenewalTimeout.String())
}

// FailedRenewalShare is the share of failed renewals among those that failed or
// succeeded, if more than n failed.
func (s Scope) FailedRenewalShare(window string, more Expr) Expr {
	failed := Op(s.Increased(catalog.Renewals, window, FailedRenewal()), ">", more)
	ok := s.Increased(catalog.Renewals, window, Equal(renewalResult(), catalog.RenewalOK.String()))
	return Op(Number(1), "/", Op(Number(1), "+", Op(ok, "/", failed)))
}

func renewalResult() string {
	result, _ := catalog.Renewals.Label("result")
	return result.Name()
}
