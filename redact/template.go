package redact

import (
	"errors"
	"slices"
	"strings"
)

// parseTemplate returns the fixed pieces around the variables. Its errors do
// not show the template: it may be a lock name by mistake.
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

// matches finds the fixed parts in order with at least one byte between
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

// familyOf is the template with its variables as wildcards. A family that is
// cut to the size of a label keeps one, since without a wildcard the label
// would pass for a single lock.
func familyOf(parts []string) string {
	pieces := slices.Clone(parts)
	for i, p := range pieces {
		pieces[i] = clean(p)
	}
	family := strings.Join(pieces, Wildcard)
	if len(family) <= MaxLabelSize {
		return family
	}
	return cut(family, MaxLabelSize-len(Wildcard+digest(family))) + Wildcard + digest(family)
}
