package query

import (
	"fmt"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// What the rules of gen-dashboards aliases record: 1 for each label that has
// an alias. Without such rules there is no series of this name.
const (
	AliasSeries = "leaderscope:lock_alias:info"
	AliasLabel  = "alias"
)

// Aliased gives each series of e, which must have lock_name, the label alias:
// the alias of the lock, else lock_name again. No series is lost or doubled,
// whether or not aliases are recorded, and however many servers record them.
func Aliased(e Expr) Expr {
	aliases := By("max", []string{catalog.LockName.Name(), AliasLabel}, AliasSeries)
	return Expr(fmt.Sprintf("(%[1]s) * on (%[2]s) group_left (%[3]s) %[4]s or label_replace((%[1]s) unless on (%[2]s) %[4]s, %[3]q, \"$1\", %[2]q, \"(.*)\")",
		e, catalog.LockName.Name(), AliasLabel, aliases))
}
