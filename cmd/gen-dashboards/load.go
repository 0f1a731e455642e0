package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	yamlparser "github.com/goccy/go-yaml/parser"
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
	if err := decode(data, &c); err != nil {
		return config{}, inFile(name, data, err)
	}
	if err := c.validate(); err != nil {
		return config{}, inFile(name, data, err)
	}
	return c, nil
}

func decode(data []byte, c *config) error {
	if err := checkDurations(data); err != nil {
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

// checkDurations comes before decoding, because the decoder does not say at
// which key a text was refused.
func checkDurations(data []byte) (err error) {
	durations := keysOf(reflect.TypeFor[config](), "", reflect.TypeFor[model.Duration]())
	walk(data, func(path string, _, value ast.Node) {
		if err != nil || !durations[path] {
			return
		}
		text := ""
		if scalar, ok := value.(ast.ScalarNode); ok {
			text = fmt.Sprint(scalar.GetValue())
		}
		if _, bad := model.ParseDuration(text); bad != nil {
			err = &keyError{key: path, problem: fmt.Sprintf("%q is no duration; write it as 30s, 5m or 1h30m", text)}
		}
	})
	return err
}

// keysOf lists the keys below a struct that hold values of one type.
func keysOf(t reflect.Type, prefix string, wanted reflect.Type) map[string]bool {
	keys := map[string]bool{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, inline, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		below := prefix
		if inline == "" {
			below += name + "."
		}
		switch {
		case name == "-":
		case f.Type == wanted:
			keys[prefix+name] = true
		case f.Type.Kind() == reflect.Struct:
			maps.Copy(keys, keysOf(f.Type, below, wanted))
		}
	}
	return keys
}

// inFile finds the place of an error in the file and makes it one line.
func inFile(name string, data []byte, err error) error {
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
