package redact

import (
	"fmt"
	"slices"
	"strings"
)

// Rule covers some names ahead of the policy. The zero Rule covers none.
type Rule struct {
	exact []string
	// parts are the literal pieces of a template around its variables.
	parts  []string
	family string
	err    error
}

// Exact lets these names through as they are: an allow-list of names that
// carry nothing private.
func Exact(names ...string) Rule { return Rule{exact: slices.Clone(names)} }

// Template covers names of one shape. Each {variable} stands for one or more
// arbitrary bytes and becomes * in the label: tenant-{id}/orders covers
// tenant-42/orders and gives tenant-*/orders, a label that all tenants share.
// A template needs at least one variable, and text between two variables.
func Template(template string) Rule {
	parts, err := parseTemplate(template)
	if err != nil {
		return Rule{err: err}
	}
	literal := slices.Clone(parts)
	for i, p := range literal {
		literal[i] = clean(p)
	}
	return Rule{parts: parts, family: shorten(strings.Join(literal, Wildcard))}
}

func parseTemplate(template string) ([]string, error) {
	var parts []string
	rest := template
	for {
		before, after, found := strings.Cut(rest, "{")
		if strings.Contains(before, "}") {
			return nil, fmt.Errorf("leaderscope: template %q: '}' without '{'", template)
		}
		if len(parts) > 0 && before == "" && found {
			return nil, fmt.Errorf("leaderscope: template %q: put text between two variables", template)
		}
		parts = append(parts, before)
		if !found {
			break
		}
		name, tail, closed := strings.Cut(after, "}")
		if !closed || name == "" || strings.Contains(name, "{") {
			return nil, fmt.Errorf("leaderscope: template %q: write a variable as {name}", template)
		}
		rest = tail
	}
	if len(parts) < 2 {
		return nil, fmt.Errorf("leaderscope: template %q has no {variable}; use Exact for a fixed name", template)
	}
	return parts, nil
}

func (r Rule) label(name string) (Label, bool) {
	if slices.Contains(r.exact, name) {
		return Label{Text: single(name)}, true
	}
	if len(r.parts) > 1 && matches(r.parts, name) {
		return Label{Text: r.family, Family: r.family, Shared: true}, true
	}
	return Label{}, false
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
