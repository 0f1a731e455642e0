package main

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/prometheus/common/model"
)

// checkKeys finds the keys that cannot be read. The decoder would stop at the
// first, would not name the key of a refused text, and would truncate fractions.
func (d *document) checkKeys() (bad []unreadable) {
	known := keysOf(reflect.TypeFor[config](), "")
	var skip string
	for _, e := range d.keys {
		if skip != "" && strings.HasPrefix(e.path, skip) {
			continue
		}
		skip = ""
		t, ok := known[e.path]
		problem := ""
		switch {
		case !ok:
			problem = unknown(e.path, known)
		case e.twice:
			problem = fmt.Sprintf("duplicate key, first used in line %d; keep one of them", d.at[e.path].key.GetToken().Position.Line)
		default:
			problem = misread(e.value, t)
		}
		if problem != "" || t.Kind() == reflect.Map {
			skip = e.path + "."
		}
		if problem != "" {
			bad = append(bad, unreadable{e, problem, !ok})
		}
	}
	return bad
}

// unknown reports an unknown key, with the valid keys of its section.
func unknown(path string, known map[string]reflect.Type) string {
	parent, name := path[:strings.LastIndex(path, ".")+1], path[strings.LastIndex(path, ".")+1:]
	var valid []string
	for _, key := range slices.Sorted(maps.Keys(known)) {
		if rest, ok := strings.CutPrefix(key, parent); ok && !strings.Contains(rest, ".") {
			valid = append(valid, rest)
		}
	}
	return fmt.Sprintf("unknown key %q; valid keys: %s", name, strings.Join(valid, ", "))
}

// misread says why a value is not of its type; empty when it is. Null keeps
// the default.
func misread(n ast.Node, t reflect.Type) string {
	if n.Type() == ast.NullType {
		return ""
	}
	text, isText := scalar(n)
	switch {
	case t.Kind() == reflect.Struct:
		if _, ok := n.(ast.MapNode); !ok {
			return "this key is a section; write its keys below it"
		}
	case t.Kind() == reflect.Map:
		return misreadMap(n)
	case t.Kind() == reflect.Slice:
		return misreadList(n)
	case !isText:
		return "a list or a mapping is not a single value; write it as key: value"
	case t == reflect.TypeFor[model.Duration]():
		if _, err := model.ParseDuration(text); err != nil {
			return fmt.Sprintf("%q is not a valid duration; write it as 30s, 5m or 1h30m", text)
		}
	case t.Kind() == reflect.Int || t.Kind() == reflect.Int64:
		if _, err := strconv.Atoi(text); err != nil {
			return fmt.Sprintf("%q is not a whole number; write it as 4", text)
		}
	case t.Kind() == reflect.Float64:
		if _, err := strconv.ParseFloat(text, 64); err != nil {
			return fmt.Sprintf("%q is not a number; write it as 0.5", text)
		}
	case t.Kind() == reflect.Bool:
		if n.Type() != ast.BoolType {
			return fmt.Sprintf("%q is neither true nor false; write one of them, without quotes", text)
		}
	default:
		return misreadText(n)
	}
	return ""
}

// scalar is a value that is neither a list nor a mapping.
func scalar(n ast.Node) (string, bool) {
	s, ok := n.(ast.ScalarNode)
	if !ok {
		return "", false
	}
	return fmt.Sprint(s.GetValue()), true
}

// misreadText refuses a value that YAML would change: 1.10 is the number 1.1.
func misreadText(n ast.Node) string {
	text, ok := scalar(n)
	if !ok {
		return "a list or a mapping is not a text; write a text in quotes"
	}
	switch n.Type() {
	case ast.StringType, ast.LiteralType:
		return ""
	}
	if written := n.GetToken().Value; written != text {
		return fmt.Sprintf("%s is a number, which would become %q; write it in quotes", written, text)
	}
	return ""
}

func misreadMap(n ast.Node) string {
	m, ok := n.(ast.MapNode)
	if !ok {
		return "this is not a mapping of texts to texts; write it as {team: orders}"
	}
	seen := map[string]bool{}
	for i := m.MapRange(); i.Next(); {
		name := keyText(i.Key())
		if problem := misreadText(i.Value()); problem != "" {
			return fmt.Sprintf("the value of %q: %s", name, problem)
		}
		if seen[name] {
			return fmt.Sprintf("duplicate key %q; keep one of them", name)
		}
		seen[name] = true
	}
	return ""
}

func misreadList(n ast.Node) string {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		return "this is not a list of texts; write it as [job, lock_name]"
	}
	for i, v := range list.Values {
		if problem := misreadText(v); problem != "" {
			return fmt.Sprintf("element %d: %s", i+1, problem)
		}
	}
	return ""
}

// keysOf lists the keys below a struct with their types.
func keysOf(t reflect.Type, prefix string) map[string]reflect.Type {
	keys := map[string]reflect.Type{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, inline, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		below := prefix
		switch {
		case name == "-":
			continue
		case inline == "":
			keys[prefix+name] = f.Type
			below += name + "."
		}
		if f.Type.Kind() == reflect.Struct {
			maps.Copy(keys, keysOf(f.Type, below))
		}
	}
	return keys
}
