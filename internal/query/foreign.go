package query

import (
	"slices"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// Labels by which other projects name a lock and its holder, and by which
// kube-state-metrics says where a Lease is.
const (
	ClientGoName = "name"
	LeaseName    = "lease"
	LeaseHolder  = "lease_holder"
	LeaseSpace   = "namespace"
)

// Series of other projects. Sources: k8s.io/component-base/metrics/prometheus/
// clientgo/leaderelection and controller-runtime/pkg/metrics/leaderelection.go;
// internal/store/lease.go of kube-state-metrics.
const (
	masterStatus = "leader_election_master_status"
	slowpath     = "leader_election_slowpath_total"
	leaseOwner   = "kube_lease_owner"
	leaseRenewed = "kube_lease_renew_time"
)

// ClientGoListed and LeaseListed are series that each lock has.
const (
	ClientGoListed = masterStatus
	LeaseListed    = leaseOwner
)

// Leases that elect no leader: those of nodes and of API servers.
const (
	nodeLeases      = "kube-node-lease"
	apiserverLeases = "apiserver-.+|kube-apiserver-.+"
)

// ClientGo reads the series of client-go, which controller-runtime exports too.
type ClientGo struct{ Scope }

// LockLabels are those of the scope with client-go's name of a lock.
func (c ClientGo) LockLabels() []string { return append(c.TargetLabels(), ClientGoName) }

// ReplicaLabels tell apart the replicas that campaign for one lock.
func (c ClientGo) ReplicaLabels() []string { return append(c.LockLabels(), c.Holder) }

// Status is 1 while a replica leads. A replica that stops between two renewals and
// keeps running leaves it at 1.
func (c ClientGo) Status(m ...Matcher) Expr { return c.foreign(masterStatus, m...) }

// SlowPath counts renewals that met another writer of the record.
func (c ClientGo) SlowPath() Expr { return c.foreign(slowpath) }

// Leaderless keeps the locks that no replica claims to lead.
func (c ClientGo) Leaderless() Expr {
	return Op(By("max", c.LockLabels(), c.Status()), "==", Number(0))
}

// Claims is how many replicas claim to lead each lock.
func (c ClientGo) Claims() Expr { return c.claims(c.Status()) }

// ClaimsFor counts only the replicas that claimed it for all samples of a window.
func (c ClientGo) ClaimsFor(window string) Expr {
	return c.claims(Over("min_over_time", c.Status(), window))
}

// Changes is how often leadership was won or lost in a window.
func (c ClientGo) Changes(window string) Expr {
	return c.claims(Over("changes", c.Status(), window))
}

// SlowPaths is how many renewals of each lock met another writer in a window.
func (c ClientGo) SlowPaths(window string) Expr {
	return By("sum", c.LockLabels(), Over("increase", c.SlowPath(), window))
}

// claims adds up over replicas: two servers that scrape one replica count once.
func (c ClientGo) claims(e Expr) Expr {
	return By("sum", c.LockLabels(), By("max", c.ReplicaLabels(), e))
}

// Leases reads the Leases that kube-state-metrics exports, and leaves out those that
// elect no leader.
type Leases struct{ Scope }

// LockLabels identify a Lease. The job is that of kube-state-metrics.
func (l Leases) LockLabels() []string {
	labels := slices.DeleteFunc(l.AnyReporter(), func(name string) bool {
		return name == catalog.LockName.Name() || name == LeaseSpace
	})
	return append(labels, LeaseSpace, LeaseName)
}

// ExporterLabels are those of the scope that kube-state-metrics has as a target.
func (l Leases) ExporterLabels() []string {
	return slices.DeleteFunc(l.TargetLabels(), func(name string) bool { return name == LeaseSpace })
}

// Owner names the holder of each Lease; the name is empty after a release.
func (l Leases) Owner(m ...Matcher) Expr { return l.elections(leaseOwner, m...) }

// Held are the Leases that name a holder, which may be dead.
func (l Leases) Held() Expr { return l.Owner(Unequal(LeaseHolder, "")) }

// Released are the Leases whose holder gave them up.
func (l Leases) Released() Expr { return l.Owner(Equal(LeaseHolder, "")) }

// Age is the time since the last renewal of each Lease. A release counts as one.
func (l Leases) Age() Expr {
	return Op(Call("time"), "-", By("max", l.LockLabels(), l.Renewed()))
}

// Renewed is the time of the last renewal of each Lease.
func (l Leases) Renewed() Expr { return l.elections(leaseRenewed) }

// Vacant is the age of the last renewal of Leases that no process holds: of those
// released, because a graceful stop leaves a record without holder and with a fresh
// time, and of those that are older than stale. Leases that are older than lookback
// belong to programs that are gone.
func (l Leases) Vacant(stale, lookback time.Duration) Expr {
	given := Op(l.Age(), "and "+On(l.LockLabels()), l.Released())
	return Op(Op(l.Stale(stale), "or", given), "<", Number(lookback.Seconds()))
}

// Stale is the age of the last renewal where it is more than stale.
func (l Leases) Stale(stale time.Duration) Expr { return Op(l.Age(), ">", Number(stale.Seconds())) }

// NewHolders is how many holders each Lease has that it had not some time ago. A
// Lease that was not exported then has none.
func (l Leases) NewHolders(ago string) Expr {
	holder := append(l.LockLabels(), LeaseHolder)
	named := By("group", holder, l.Held())
	fresh := Op(named, "unless", By("group", holder, Offset(l.Held(), ago)))
	known := Op(fresh, "and "+On(l.LockLabels()), Offset(l.Owner(), ago))
	all := By("group", l.LockLabels(), l.Owner())
	return Op(By("count", l.LockLabels(), known), "or", Op(Number(0), "*", all))
}

// Holders is how many different holders each Lease had in a window.
func (l Leases) Holders(window string) Expr {
	named := By("group", append(l.LockLabels(), LeaseHolder), Over("last_over_time", l.Held(), window))
	return By("count", l.LockLabels(), named)
}

// Exported are the renewals of all Leases, also of those that elect no leader.
func (l Leases) Exported() Expr { return l.foreign(leaseRenewed) }

func (l Leases) elections(name string, m ...Matcher) Expr {
	return l.foreign(name, append([]Matcher{Unequal(LeaseSpace, nodeLeases), MatchesNot(LeaseName, apiserverLeases)}, m...)...)
}

// foreign selects a series of another project within the scope, without a prefix of ours.
func (s Scope) foreign(name string, m ...Matcher) Expr {
	return Selector(name, append(slices.Clone(s.TargetMatchers), m...)...)
}
