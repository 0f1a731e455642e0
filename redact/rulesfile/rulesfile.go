// Package rulesfile reads redaction rules from YAML.
//
//	rules, err := rulesfile.Load("/etc/leaderscope/rules.yaml")
//	policy := redact.Hash(key, "k1", rules...)
//
// A file has a list of rules:
//
//	rules:
//	  - literals: true
//	  - exact: [daily-report, nightly-import]
//	  - template: tenant-{id}/orders
//	    policy: hash
//
// It is separate from package redact, so that a service without such a file
// links no YAML parser. The meaning of the rules is defined in package redact.
package rulesfile

import (
	_ "embed"
	"fmt"

	"github.com/leaderscope/leaderscope/redact"
	"github.com/leaderscope/leaderscope/redact/internal/regularfile"
)

// Schema is the JSON Schema of the file, for editors.
//
//go:embed schema.json
var Schema []byte

// The limits of a rules file. They keep the file of an attacker from taking
// the memory or the time of the service that reads it, and are far beyond the
// names that fit under the limit on labels.
const (
	// MaxSize is the largest rules file in bytes.
	MaxSize = 128 << 10
	// MaxRules is the largest number of rules in a file.
	MaxRules = 1000
	// MaxNameSize is the largest name or template in bytes.
	MaxNameSize = 4 << 10
)

// Error is a fault of a rules file and where it is. It shows neither names
// nor templates of the file.
type Error struct {
	// File is the file as it was named.
	File string
	// Line and Column count from 1. Both are 0 where the whole file is meant,
	// and Column where the whole line is meant.
	Line, Column int
	// Key is the place within the file, such as rules[1].policy; may be empty.
	Key string
	// Problem says what is wrong and what would be right.
	Problem string
}

// Error is file:line:column: key: problem, without what is unknown.
func (e *Error) Error() string {
	text := e.File
	if e.Line > 0 {
		text += fmt.Sprintf(":%d", e.Line)
	}
	if e.Column > 0 {
		text += fmt.Sprintf(":%d", e.Column)
	}
	if e.Key != "" {
		text += ": " + e.Key
	}
	return text + ": " + e.Problem
}

// Load reads a rules file of at most MaxSize bytes. It follows symbolic links
// and refuses what is no regular file, without waiting for a named pipe. Its
// errors are those of reading the file, which wrap the error of the operating
// system, or an *Error. Safe for concurrent use.
func Load(path string) ([]redact.Rule, error) {
	data, _, err := regularfile.Read(path, MaxSize)
	if err != nil {
		return nil, fmt.Errorf("leaderscope: rules file: %w", err)
	}
	return Parse(path, data)
}

// Parse reads rules from YAML, or from JSON, which is YAML; file is only the
// name of the file for errors, which are *Error. The rules are in the order of
// the file, where the first that covers a name decides. A file without rules
// is an error: it covers nothing. So is a file with anchors, aliases or tags,
// which no rules file needs, and one that is larger than a limit. Safe for
// concurrent use.
func Parse(file string, data []byte) ([]redact.Rule, error) {
	d := &document{file: file}
	return d.guarded(func() ([]redact.Rule, error) {
		body, err := d.parse(data)
		if err != nil {
			return nil, err
		}
		return d.rules(body)
	})
}

// guarded turns a panic of the YAML parser into an error: no file ends the
// service that reads it.
func (d *document) guarded(read func() ([]redact.Rule, error)) (rules []redact.Rule, err error) {
	defer func() {
		if recover() != nil {
			rules, err = nil, d.wrong(nil, "", notYAML)
		}
	}()
	return read()
}
