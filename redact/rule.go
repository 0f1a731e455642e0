package redact

import "slices"

// Rule covers some names ahead of the policy. Which label they get is the
// rule's own choice: Exact and Literals let a name through and Template gives
// the family, unless Hashed, Constant or Raw say otherwise. The zero Rule
// covers no name. A Rule never changes and is safe for concurrent use.
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

// Exact lets these names through as they are: an allow-list of names that
// carry nothing private. It covers constants of the program and names made at
// run time.
func Exact(names ...string) Rule { return Rule{policy: PolicyRaw, exact: slices.Clone(names)} }

// Literals lets all names through that are constants of the program, such as
// the argument of Election("reconciler"): what stands in the source code is no
// secret. It covers no name that was made at run time, even one of the same
// text.
func Literals() Rule { return Rule{policy: PolicyRaw, literals: true} }

// Template covers names of one shape. Each {variable} stands for one or more
// arbitrary bytes and becomes * in the label: tenant-{id}/orders covers
// tenant-42/orders and gives tenant-*/orders, a label that all tenants share.
// A template needs at least one variable, and text between two variables; Err
// reports one that has not. It covers constants of the program and names made
// at run time.
func Template(template string) Rule {
	parts, err := parseTemplate(template)
	if err != nil {
		return Rule{err: err}
	}
	return Rule{policy: PolicyConstant, parts: parts, family: familyOf(parts)}
}

// Hashed gives each name of the rule its hash; the family of a template stays
// beside it, so that locks are told apart and still grouped. It needs a policy
// made by Hash.
func (r Rule) Hashed() Rule { return r.as(PolicyHash) }

// Constant gives all names of the rule one label: the family of a template,
// else "redacted".
func (r Rule) Constant() Rule { return r.as(PolicyConstant) }

// Raw lets each name of the rule through as it is, made valid; the family of a
// template stays beside it.
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
