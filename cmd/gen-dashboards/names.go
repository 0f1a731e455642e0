package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// readNames reads one name per line; empty lines are none. A byte order mark,
// which some editors write, is not part of the first name.
func readNames(r io.Reader) (names []string, err error) {
	lines := bufio.NewReader(r)
	for first := true; ; first = false {
		line, err := lines.ReadString('\n')
		if first {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		if line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"); line != "" {
			names = append(names, line)
		}
		if errors.Is(err, io.EOF) {
			return names, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read names: %w", err)
		}
	}
}

// print writes JSON, or columns: the label, and what the flags add.
func (l labeling) print(w io.Writer, found []labeled) error {
	if l.output == "json" {
		return printJSON(w, found)
	}
	for _, f := range found {
		columns := []string{f.Label}
		if l.secondaryFile != "" {
			columns = append(columns, f.Secondary)
		}
		if l.aliases != "" {
			columns = append(columns, f.Alias)
		}
		if f.Name != nil {
			columns = append(columns, printable(*f.Name))
		}
		if _, err := fmt.Fprintln(w, strings.Join(columns, "\t")); err != nil {
			return err
		}
	}
	return nil
}

// printJSON escapes what encoding/json leaves as it is: characters that a
// terminal obeys or that change the order of the text around them. All of
// them are within strings.
func printJSON(w io.Writer, found []labeled) error {
	var text strings.Builder
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(found); err != nil {
		return err
	}
	var safe strings.Builder
	for _, r := range text.String() {
		switch {
		case r == '\n' || unicode.IsPrint(r):
			safe.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&safe, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&safe, `\u%04x`, r)
		}
	}
	_, err := io.WriteString(w, safe.String())
	return err
}

// printable is a name as it is, or in double quotes with escapes when it has
// bytes or characters that cannot be shown, or begins with a quote itself.
func printable(name string) string {
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	if !utf8.ValidString(name) || strings.ContainsFunc(name, unprintable) || strings.HasPrefix(name, `"`) {
		return strconv.Quote(name)
	}
	return name
}
