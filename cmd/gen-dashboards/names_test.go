package main

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

func TestNamesAreReadOnePerLine(t *testing.T) {
	cases := map[string]struct {
		text string
		want []string
	}{
		"nothing":                         {"", nil},
		"empty lines":                     {"\n\r\n\n", nil},
		"the last line has no end":        {"a\n\nb", []string{"a", "b"}},
		"line ends of Windows":            {"a\r\n\r\nb\r\n", []string{"a", "b"}},
		"a byte order mark":               {"\ufeffa\nb\n", []string{"a", "b"}},
		"a mark elsewhere is of the name": {"a\n\ufeffb\n", []string{"a", "\ufeffb"}},
		"spaces are of the name":          {" a \n\tb\n", []string{" a ", "\tb"}},
		"a long line":                     {strings.Repeat("x", 1<<20) + "\nb", []string{strings.Repeat("x", 1<<20), "b"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := readNames(strings.NewReader(c.text))
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("got %.80q, error %v", got, err)
			}
		})
	}
}

// Labels of some of the names would look like those of all.
func TestNamesThatCannotAllBeReadAreAnError(t *testing.T) {
	broken := errors.New("broken")
	got, err := readNames(io.MultiReader(strings.NewReader("a\nb\nc"), iotest.ErrReader(broken)))
	if got != nil || !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "read names: ") {
		t.Errorf("got %q, error %v", got, err)
	}
}

func TestNamesArePrintedWithoutWhatATerminalObeys(t *testing.T) {
	cases := map[string]struct{ name, text, json string }{
		"a plain name":                {"billing/<a&b>", `billing/<a&b>`, `"billing/<a&b>"`},
		"another script":              {"café 租户", `café 租户`, `"café 租户"`},
		"a tab":                       {"a\tb", `"a\tb"`, `"a\tb"`},
		"a line end":                  {"a\nb", `"a\nb"`, `"a\nb"`},
		"an escape sequence":          {"\x1b[31mred", `"\x1b[31mred"`, `"\u001b[31mred"`},
		"a C1 control character":      {"\u009b31m", `"\u009b31m"`, `"\u009b31m"`},
		"a delete character":          {"a\x7f", `"a\x7f"`, `"a\u007f"`},
		"a right-to-left override":    {"abc\u202etxt.exe", `"abc\u202etxt.exe"`, `"abc\u202etxt.exe"`},
		"a right-to-left isolate":     {"a\u2067b\u2069", `"a\u2067b\u2069"`, `"a\u2067b\u2069"`},
		"a mark of direction":         {"a\u200fb", `"a\u200fb"`, `"a\u200fb"`},
		"a space of no width":         {"a\u200bb", `"a\u200bb"`, `"a\u200bb"`},
		"a byte order mark":           {"\ufeffa", `"\ufeffa"`, `"\ufeffa"`},
		"a space that does not break": {"a\u00a0b", `"a\u00a0b"`, `"a\u00a0b"`},
		"a line separator":            {"a\u2028b", `"a\u2028b"`, `"a\u2028b"`},
		"an invisible tag":            {"a\U000e0041", `"a\U000e0041"`, `"a\udb40\udc41"`},
		"invalid UTF-8":               {"a\x9b", `"a\x9b"`, `"a\ufffd"`},
		"a quote in front":            {`"a"`, `"\"a\""`, `"\"a\""`},
		"a quote inside":              {`a"b`, `a"b`, `"a\"b"`},
		"the empty name":              {"", ``, `""`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.text, printable(c.name)); diff != "" {
				t.Errorf("text: %s", diff)
			}
			var out strings.Builder
			if err := (labeling{output: "json"}).print(&out, []labeled{{Label: "l", Name: &c.name}}); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out.String(), `"name": `+c.json+"\n") {
				t.Errorf("JSON: got %s, want %s", out.String(), c.json)
			}
			if strings.ContainsFunc(strings.ReplaceAll(out.String(), "\n", ""), func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Errorf("JSON has unprintable characters: %q", out.String())
			}
			var read []labeled
			if err := json.Unmarshal([]byte(out.String()), &read); err != nil || *read[0].Name != strings.ToValidUTF8(c.name, "\ufffd") {
				t.Errorf("JSON is read as %v, error %v", read, err)
			}
		})
	}
}
