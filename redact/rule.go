package redact

import (
	"errors"
	"slices"
	"strings"
)

// Rule covers some names ahead of the policy. Which label they get is the
// rule's own choice: Exact lets a name through and Template gives the family,
// unless Hashed, Constant or Raw say otherwise. The zero Rule covers none.
type Rule struct {
	mode  string
	exact []string
	// parts are the literal pieces of a template around its variables.
	parts  []string
	family string
	err    error
}

// Exact lets these names through as they are: an allow-list of names that
// carry nothing private.
func Exact(names ...string) Rule { return Rule{mode: ModeRaw, exact: slices.Clone(names)} }

// Template covers names of one shape. Each {variable} stands for one or more
// arbitrary bytes and becomes * in the label: tenant-{id}/orders covers
// tenant-42/orders and gives tenant-*/orders, a label that all tenants share.
// A template needs at least one variable, and text between two variables.
func Template(template string) Rule {
	parts, err := parseTemplate(template)
	if err != nil {
		return Rule{err: err}
	}
	return Rule{mode: ModeConstant, parts: parts, family: familyOf(parts)}
}

// Hashed gives each name of the rule its hash; the family of a template stays
// beside it, so that locks are told apart and still grouped. It needs a policy
// made by Hash.
func (r Rule) Hashed() Rule { return r.as(ModeHash) }

// Constant gives all names of the rule one label: the family of a template,
// else "redacted".
func (r Rule) Constant() Rule { return r.as(ModeConstant) }

// Raw lets each name of the rule through as it is; the family of a template
// stays beside it.
func (r Rule) Raw() Rule { return r.as(ModeRaw) }

// Err reports a malformed template; nil when the rule can be used. Policies
// report it too, with the number of the rule.
func (r Rule) Err() error { return r.err }

func (r Rule) as(mode string) Rule {
	r.mode = mode
	return r
}

// familyOf is the template with its variables as wildcards. One is kept
// however long it is: without it the label would pass for a single lock.
func familyOf(parts []string) string {
	literal := slices.Clone(parts)
	for i, p := range literal {
		literal[i] = clean(p)
	}
	family := strings.Join(literal, Wildcard)
	if len(family) <= MaxLabelSize {
		return family
	}
	return cut(family, MaxLabelSize-len(Wildcard+digest(family))) + Wildcard + digest(family)
}

// parseTemplate's errors leave the template out: a lock's name may stand
// where a template was meant.
func parseTemplate(template string) ([]string, error) {
	var parts []string
	rest := template
	for {
		before, after, found := strings.Cut(rest, "{")
		if strings.Contains(before, "}") {
			return nil, errors.New("the template has a '}' without '{'")
		}
		if len(parts) > 0 && before == "" && found {
			return nil, errors.New("the template has two variables side by side; put text between them")
		}
		parts = append(parts, before)
		if !found {
			break
		}
		name, tail, closed := strings.Cut(after, "}")
		if !closed || name == "" || strings.Contains(name, "{") {
			return nil, errors.New("the template has a '{' that begins no variable; write one as {name}")
		}
		rest = tail
	}
	if len(parts) < 2 {
		return nil, errors.New("the template has no {variable}; a fixed name is an exact rule")
	}
	return parts, nil
}

func (r Rule) covers(name string) bool {
	return slices.Contains(r.exact, name) || len(r.parts) > 1 && matches(r.parts, name)
}

// matches finds the literal parts in order with at least one byte between
// them. Taking the earliest place for each inner part never misses a match.
func matches(parts []string, name string) bool {
	rest, ok := strings.CutPrefix(name, parts[0])
	if !ok {
		return false
	}
	for _, part := range parts[1 : len(parts)-1] {
		if rest == "" {
			return false
		}
		i := strings.Index(rest[1:], part)
		if i < 0 {
			return false
		}
		rest = rest[1+i+len(part):]
	}
	last := parts[len(parts)-1]
	return len(rest) > len(last) && strings.HasSuffix(rest, last)
}
