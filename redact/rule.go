package redact

import "slices"

// Rule matches some names before the policy applies, and decides their label:
// Exact and Literals publish the name and Template publishes the family, unless
// changed by Hashed, Constant or Raw. The zero Rule matches no name. A Rule never
// changes and is safe for concurrent use.
type Rule struct {
	policy   string
	exact    []string
	literals bool
	// parts are the fixed pieces of a template around its variables.
	parts  []string
	family string
	err    error
}

// origin says where a name comes from.
type origin int

const (
	madeAtRunTime origin = iota
	literal              // a constant of the program
)

// Exact publishes these names unchanged: an allow-list of names without private
// data. It matches constants of the program and names made at run time.
func Exact(names ...string) Rule { return Rule{policy: PolicyRaw, exact: slices.Clone(names)} }

// Literals publishes all names that are constants of the program, such as the
// argument of Election("reconciler"): the source code is not a secret. It does not
// match names that were made at run time, even with the same text.
func Literals() Rule { return Rule{policy: PolicyRaw, literals: true} }

// Template matches names of one form. Each {variable} matches one or more
// arbitrary bytes and becomes * in the label: tenant-{id}/orders matches
// tenant-42/orders and publishes tenant-*/orders, a label that all tenants share.
// A template needs at least one variable, and text between two variables;
// otherwise Err reports it. It matches constants of the program and names made at
// run time.
func Template(template string) Rule {
	parts, err := parseTemplate(template)
	if err != nil {
		return Rule{err: err}
	}
	return Rule{policy: PolicyConstant, parts: parts, family: familyOf(parts)}
}

// Hashed publishes the hash of each name of the rule. The family of a template is
// kept beside it, so that locks are distinguished and can be grouped. It needs a
// policy from Hash.
func (r Rule) Hashed() Rule { return r.as(PolicyHash) }

// Constant publishes one label for all names of the rule: the family of a
// template, or else "redacted".
func (r Rule) Constant() Rule { return r.as(PolicyConstant) }

// Raw publishes each name of the rule unchanged, except that it is made valid; the
// family of a template is kept beside it.
func (r Rule) Raw() Rule { return r.as(PolicyRaw) }

// Err reports a malformed template; nil when the rule can be used. Policies
// report it too, with the number of the rule. The template is not in the text.
func (r Rule) Err() error { return r.err }

func (r Rule) as(policy string) Rule {
	r.policy = policy
	return r
}

func (r Rule) covers(name string, from origin) bool {
	return r.literals && from == literal || slices.Contains(r.exact, name) || r.parts != nil && matches(r.parts, name)
}
