package rulesfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// document is one file. Its values are read from the syntax tree, in which
// each one has its place.
type document struct {
	file string
	// seen says which rule covers a name of an exact rule.
	seen map[string]int
	// literals is the rule that covers constants of the program; nil: none.
	literals *int
}

const (
	notYAML  = "this cannot be read as YAML; the fault is on this line or near it"
	tooDeep  = "this is nested more deeply than any rules file"
	noRules  = "is missing or empty; list rules with exact, template or literals"
	notPlain = "tags, anchors and aliases are not read; write the text out"
)

// parse returns the tree of the only document; nil when the file is empty. The
// parser is bounded by the size of its input: it limits the depth, expands no
// alias into a tree, and takes time and memory in proportion.
func (d *document) parse(data []byte) (*yaml.Node, error) {
	if len(data) > MaxSize {
		return nil, d.wrong(nil, "", fmt.Sprintf("is larger than %d bytes", MaxSize))
	}
	if err := d.checkCharacters(data); err != nil {
		return nil, err
	}
	var first *yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for n := 0; ; n++ {
		var node yaml.Node
		err := decoder.Decode(&node)
		switch {
		case errors.Is(err, io.EOF):
			return first, nil
		case err != nil:
			return nil, &Error{File: d.file, Line: faultyLine(data, err), Problem: problemOf(err)}
		case isEmpty(&node):
		case n > 0:
			return nil, d.wrong(node.Content[0], "", "a second document; put everything into the first")
		default:
			first = node.Content[0]
		}
	}
}

// isEmpty reports a document with nothing but comments.
func isEmpty(document *yaml.Node) bool {
	body := document.Content[0]
	return body.Kind == yaml.ScalarNode && body.Value == "" && body.Style == 0 && body.Anchor == ""
}

// checkCharacters refuses what is no text, at its place.
func (d *document) checkCharacters(data []byte) error {
	line, column := 1, 1
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		problem := ""
		switch {
		case r == utf8.RuneError && size == 1:
			problem = "this is not UTF-8; save the file in that encoding"
		case r != '\n' && r != '\r' && r != '\t' && unicode.IsControl(r):
			problem = `this is a control character; write it in double quotes, as in "a\x00b"`
		}
		if problem != "" {
			return &Error{File: d.file, Line: line, Column: column, Problem: problem}
		}
		column++
		if r == '\n' {
			line, column = line+1, 1
		}
		i += size
	}
	return nil
}

// problemOf puts an error of the parser in words that do not quote the file.
func problemOf(err error) string {
	switch text := err.Error(); {
	case strings.Contains(text, "exceeded max depth"):
		return tooDeep
	case strings.Contains(text, "unknown anchor"):
		return notPlain
	}
	return notYAML
}

// lineOfError finds the line in an error, and the texts of those errors that
// count lines from 0.
var lineOfError = regexp.MustCompile(`^yaml: line (\d+): (did not find expected (?:node content|'-' indicator|key|',' or '.'|<document start>))?`)

// faultyLine is the line at which the parser gave up. Its error has the line
// at which the enclosing list or mapping begins. A file that can be read when
// it is cut ahead of a line, and not when it is cut behind it, has its fault
// there or later. The later line of the two is the better one.
func faultyLine(data []byte, err error) int {
	lines := bytes.SplitAfter(data, []byte("\n"))
	good, bad := 0, len(lines) // so many lines are read without and with an error
	for size := 0; good+1 < bad; {
		middle := (good + bad) / 2
		size = 0
		for _, l := range lines[:middle] {
			size += len(l)
		}
		if isYAML(data[:size]) {
			good = middle
		} else {
			bad = middle
		}
	}
	if found := lineOfError.FindStringSubmatch(err.Error()); found != nil {
		line, _ := strconv.Atoi(found[1])
		if found[2] != "" {
			line++
		}
		bad = max(bad, line)
	}
	return min(bad, strings.Count(string(data), "\n")+1)
}

// isYAML reports whether all documents can be parsed.
func isYAML(data []byte) bool {
	for decoder := yaml.NewDecoder(bytes.NewReader(data)); ; {
		var node yaml.Node
		if err := decoder.Decode(&node); err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}

// wrong is an error at a node; without one it is about the whole file.
func (d *document) wrong(node *yaml.Node, key, problem string) error {
	e := &Error{File: d.file, Key: key, Problem: problem}
	if node != nil {
		e.Line, e.Column = node.Line, node.Column
	}
	return e
}
