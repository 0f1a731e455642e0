package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// keyError is an invalid key of the configuration, with its place in the file.
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
// default. Keys that the file leaves out keep their defaults. The document
// says where the keys are; it is empty without a file.
func load(name string) (config, *document, error) {
	if name == "" {
		return defaultConfig(), &document{}, nil
	}
	data, err := readFile(name, maxBytes)
	if err != nil {
		return config{}, nil, err
	}
	return decode(name, data)
}

// decode reports everything that is wrong with a configuration, in the order
// of the file.
func decode(name string, data []byte) (config, *document, error) {
	d, err := parse(name, data)
	if err != nil {
		return config{}, nil, err
	}
	unread := d.checkKeys()
	c := defaultConfig()
	if d.body != nil {
		for _, e := range unread {
			e.drop()
		}
		if err := yaml.NodeToValue(d.body, &c, yaml.AllowDuplicateMapKey()); err != nil {
			return config{}, nil, d.syntaxError(err)
		}
	}
	var all []error
	for _, e := range unread {
		all = append(all, d.placed(e.key, e.path, e.problem))
	}
	for _, err := range joined(c.validate()) {
		if !concerns(err, unread) {
			all = append(all, err)
		}
	}
	return c, d, d.report(all...)
}

// unreadable is a key whose value cannot be read, or that does not exist.
type unreadable struct {
	entry
	problem string
	unknown bool
}

// drop makes the value null, for which the decoder keeps the default.
func (u unreadable) drop() { u.holder.Value = ast.Null(u.key.GetToken()) }

// concerns reports whether a finding may be caused by the default that replaces a
// value that could not be read: a value of the same alert, or one that all alerts
// depend on.
func concerns(finding error, all []unreadable) bool {
	var bad *keyError
	if !errors.As(finding, &bad) {
		return false
	}
	return slices.ContainsFunc(all, func(u unreadable) bool {
		names := strings.Split(u.path, ".")
		switch {
		case u.unknown:
			return false
		case names[0] == "scope" || u.path == "recording" || strings.HasPrefix(u.path, "alerts.group"):
			return true
		case names[0] == "alerts" && len(names) > 2:
			return strings.HasPrefix(bad.key, "alerts."+names[1]+".")
		}
		return strings.HasPrefix(bad.key+".", u.path+".")
	})
}

// maxReported is how many errors of a file are listed.
const maxReported = 50

// report finds the places of errors in the file and makes each one line, in
// the order of the file.
func (d *document) report(errs ...error) error {
	all := make([]*keyError, len(errs))
	for i, err := range errs {
		all[i] = d.place(err)
	}
	slices.SortStableFunc(all, func(a, b *keyError) int {
		return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column))
	})
	var lines []error
	for _, e := range all[:min(len(all), maxReported)] {
		lines = append(lines, e)
	}
	if more := len(all) - len(lines); more > 0 {
		lines = append(lines, fmt.Errorf("%s: %d more errors; fix the errors above first", d.name, more))
	}
	return errors.Join(lines...)
}

// place says where in the file the key of an error is.
func (d *document) place(err error) *keyError {
	var bad *keyError
	if !errors.As(err, &bad) {
		return &keyError{file: d.name, problem: err.Error()}
	}
	if bad.line > 0 || d.name == "" {
		return bad
	}
	for path := bad.key; path != ""; path = path[:max(0, strings.LastIndex(path, "."))] {
		e, ok := d.at[path]
		switch {
		case ok && path == bad.key:
			return d.placed(e.key, bad.key, bad.problem)
		case ok:
			return d.placed(e.key, bad.key, bad.problem+byDefault)
		}
	}
	return &keyError{file: d.name, key: bad.key, problem: bad.problem + byDefault}
}

// byDefault follows the problem of a key that the file does not have, where
// the sections that it has are the place.
const byDefault = " (the file leaves this key at its default)"

// joined are the errors that were joined into one.
func joined(err error) []error {
	if err == nil {
		return nil
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		return many.Unwrap()
	}
	return []error{err}
}
