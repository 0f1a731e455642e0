package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	yamlparser "github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
	"github.com/prometheus/common/model"
)

// keyError is a bad key of the configuration, where it stands in the file.
type keyError struct {
	file, key, problem string
	line, column       int
}

func (e *keyError) Error() string {
	text := e.key + ": " + e.problem
	if e.key == "" {
		text = e.problem
	}
	switch {
	case e.line > 0:
		return fmt.Sprintf("%s:%d:%d: %s", e.file, e.line, e.column, text)
	case e.file != "":
		return e.file + ": " + text
	}
	return text
}

// load reads and checks a configuration file; without a name it is the
// default. Keys that the file leaves out keep their defaults.
func load(name string) (config, error) {
	c := defaultConfig()
	if name == "" {
		return c, nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return config{}, err
	}
	if err := readable(data); err != nil {
		return config{}, &keyError{file: name, problem: err.Error()}
	}
	data = bytes.TrimPrefix(data, []byte(byteOrderMark))
	if err := decode(data, &c); err != nil {
		return config{}, inFile(name, data, err)
	}
	if err := c.validate(); err != nil {
		return config{}, inFile(name, data, err)
	}
	return c, nil
}

// byteOrderMark is what some editors put before UTF-8.
const byteOrderMark = "\xef\xbb\xbf"

// largest is many times what a configuration needs.
const largest = 1 << 20

// readable refuses what is no configuration, before it is parsed: aliases make
// a few hundred bytes into gigabytes.
func readable(data []byte) error {
	switch {
	case len(data) > largest:
		return fmt.Errorf("%d bytes are too many for a configuration; use at most %d", len(data), largest)
	case !utf8.Valid(data):
		return errors.New("the file is not in UTF-8; save it as UTF-8")
	}
	for _, t := range lexer.Tokenize(string(data)) {
		if t.Type == token.AnchorType || t.Type == token.AliasType || t.Type == token.MergeKeyType {
			return fmt.Errorf("line %d: anchors, aliases and merge keys are not read; write the values out", t.Position.Line)
		}
	}
	return nil
}

func decode(data []byte, c *config) error {
	if err := checkKeys(data); err != nil {
		return err
	}
	read := *c
	d := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict())
	if err := d.Decode(&read); errors.Is(err, io.EOF) {
		return nil // the decoder has cleared what it was given
	} else if err != nil {
		return err
	}
	if err := d.Decode(&config{}); !errors.Is(err, io.EOF) {
		return errors.New("more than one document; put everything into the first")
	}
	*c = read
	return nil
}

// checkKeys comes before decoding, because the decoder stops at the first
// error, does not say at which key a text was refused, and cuts off fractions.
func checkKeys(data []byte) error {
	var bad []error
	known := keysOf(reflect.TypeFor[config](), "")
	var skip string
	walk(data, func(path string, _, value ast.Node) {
		if skip != "" && strings.HasPrefix(path, skip) {
			return
		}
		skip = ""
		t, ok := known[path]
		text := ""
		if scalar, isScalar := value.(ast.ScalarNode); isScalar {
			text = fmt.Sprint(scalar.GetValue())
		}
		switch {
		case !ok:
			skip = path + "."
			bad = append(bad, &keyError{key: path, problem: fmt.Sprintf("unknown key %q", path[strings.LastIndex(path, ".")+1:])})
		case t.Kind() == reflect.Map:
			skip = path + "."
		case t == reflect.TypeFor[model.Duration]():
			if _, err := model.ParseDuration(text); err != nil {
				bad = append(bad, &keyError{key: path, problem: fmt.Sprintf("%q is no duration; write it as 30s, 5m or 1h30m", text)})
			}
		case t.Kind() == reflect.Int || t.Kind() == reflect.Int64:
			if _, err := strconv.Atoi(text); err != nil {
				bad = append(bad, &keyError{key: path, problem: fmt.Sprintf("%q is no whole number; write it as 4", text)})
			}
		}
	})
	return errors.Join(bad...)
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

// inFile finds the places of errors in the file and makes each one line, in
// the order of the file.
func inFile(name string, data []byte, err error) error {
	var all []*keyError
	for _, err := range joined(err) {
		all = append(all, placed(name, data, err))
	}
	slices.SortStableFunc(all, func(a, b *keyError) int { return cmp.Compare(a.line, b.line) })
	lines := make([]error, len(all))
	for i, e := range all {
		lines[i] = e
	}
	return errors.Join(lines...)
}

func placed(name string, data []byte, err error) *keyError {
	bad := &keyError{file: name}
	var known *keyError
	var syntax yaml.Error
	switch {
	case errors.As(err, &known):
		bad.key, bad.problem = known.key, known.problem
		bad.line, bad.column = place(data, known.key)
	case errors.As(err, &syntax):
		bad.problem = plain(syntax.GetMessage())
		if t := syntax.GetToken(); t != nil {
			bad.line, bad.column = t.Position.Line, t.Position.Column
			bad.key = keyAt(data, bad.line, bad.column)
		}
	default:
		bad.problem = plain(err.Error())
	}
	return bad
}

var goTypes = regexp.MustCompile(`cannot unmarshal (\S+) into Go (?:struct field \S+|value) of type (\S+)`)

// plain makes one line of the decoder's message, in words of the file.
func plain(message string) string {
	message, _, _ = strings.Cut(message, "\n")
	message = goTypes.ReplaceAllString(message, "$1 was used where $2 is expected")
	return strings.Replace(message, "unknown field", "unknown key", 1)
}

// place finds a key such as alerts.group.name; 0, 0 if the file lacks it.
func place(data []byte, key string) (line, column int) {
	walk(data, func(path string, node, _ ast.Node) {
		if path == key {
			at := node.GetToken().Position
			line, column = at.Line, at.Column
		}
	})
	return line, column
}

// keyAt is the last key that begins at or before a place on its line.
func keyAt(data []byte, line, column int) (key string) {
	walk(data, func(path string, node, _ ast.Node) {
		if at := node.GetToken().Position; at.Line == line && at.Column <= column {
			key = path
		}
	})
	return key
}

// walk visits the keys of a file in order, each with its path from the top.
func walk(data []byte, visit func(path string, key, value ast.Node)) {
	file, err := yamlparser.ParseBytes(data, 0, yamlparser.AllowDuplicateMapKey())
	if err != nil {
		return
	}
	var descend func(prefix string, n ast.Node)
	descend = func(prefix string, n ast.Node) {
		m, ok := n.(ast.MapNode)
		if !ok {
			return
		}
		for i := m.MapRange(); i.Next(); {
			path := prefix + i.Key().String()
			visit(path, i.Key(), i.Value())
			descend(path+".", i.Value())
		}
	}
	for _, doc := range file.Docs {
		descend("", doc.Body)
	}
}
