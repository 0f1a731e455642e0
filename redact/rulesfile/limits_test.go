package rulesfile_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/redact"
	"github.com/leaderscope/leaderscope/redact/rulesfile"
)

// The most that Parse may take for any file: about twice what the worst file
// takes in memory, and in time what only work without end takes.
const (
	maxAllocated = 256 << 20 // bytes in all; at one time, a part of it
	maxTime      = time.Minute
)

// parse parses a file, and fails the test when that costs more than the most.
func parse(t *testing.T, data []byte) ([]redact.Rule, error) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	rules, err := rulesfile.Parse("rules.yaml", data)
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	if took > maxTime {
		t.Errorf("%.40q... of %d bytes takes %v", data, len(data), took)
	}
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > maxAllocated {
		t.Errorf("%.40q... of %d bytes allocates %d MiB", data, len(data), allocated>>20)
	}
	if stack := after.StackInuse; stack > 64<<20 {
		t.Errorf("%.40q... of %d bytes has a stack of %d MiB", data, len(data), stack>>20)
	}
	return rules, err
}

// full repeats a text up to the largest size of a file.
func full(text string) string { return strings.Repeat(text, rulesfile.MaxSize/len(text)) }

// stairs is a file in which each line is one column deeper than the last.
func stairs(line string) string {
	var b strings.Builder
	for i := 0; b.Len() < rulesfile.MaxSize-1000; i++ {
		b.WriteString(strings.Repeat(" ", i) + line + "\n")
	}
	return b.String()
}

func numbered(format string) string {
	var b strings.Builder
	for i := 0; b.Len() < rulesfile.MaxSize-100; i++ {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func TestAHostileFileIsAnErrorWithinBounds(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'z'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s*%c]\n", c, c, strings.Repeat(fmt.Sprintf("*%c,", c-1), 8), c-1)
	}
	merges := "a: &a {k: v}\n"
	for c := 'b'; c < 'z'; c++ {
		merges += fmt.Sprintf("%c: &%c {<<: [%s*%c]}\n", c, c, strings.Repeat(fmt.Sprintf("*%c,", c-1), 8), c-1)
	}
	cases := map[string]string{
		"lists in lists":               full("["),
		"closed lists in lists":        full("[")[:rulesfile.MaxSize/2] + full("]")[:rulesfile.MaxSize/2],
		"mappings in mappings":         full("{"),
		"mappings in lists":            full("[{a: "),
		"pairs in lists":               full("[a: "),
		"entries in entries":           full("- "),
		"keys in keys":                 full("? "),
		"keys in keys, entries":        full("? - "),
		"values in values":             full("a: "),
		"values in a mapping":          "{" + full("a: ")[1:],
		"deeper with each line":        stairs("a:"),
		"entries, deeper":              stairs("-"),
		"keys, deeper":                 stairs("?"),
		"keys of one mapping":          numbered("k%d:\n"),
		"keys of one flow mapping":     "{" + numbered("k%d: ,"),
		"one key over and over":        full("a:\n"),
		"explicit keys":                full("? a\n"),
		"empty lists":                  "[" + full("[],")[1:],
		"rules of no kind":             "rules:\n" + full("- \n")[10:],
		"documents":                    full("---\n"),
		"documents with a text":        full("a\n---\n"),
		"ends of documents":            full("...\n"),
		"directives":                   full("%YAML 1.2\n"),
		"directives and documents":     full("%TAG ! tag:a,2000:\n---\n"),
		"tags":                         full("! "),
		"tags of their own":            "[" + full("!a b,")[1:],
		"anchors":                      "[" + full("&a b,")[1:],
		"anchors, each its own":        "[" + numbered("&a%d b,"),
		"aliases":                      "[&a b," + full("*a,")[8:],
		"an alias of itself":           "rules: &a [*a]\n",
		"a bomb of aliases":            bomb,
		"a bomb of merge keys":         merges,
		"a bomb within the rules":      "rules:\n- exact: &a [x,x]\n- exact: &b [*a,*a]\n- exact: [*b,*b]\n",
		"merge keys":                   full("<<: a\n"),
		"comments":                     full("#\n"),
		"comments of their own column": stairs("#"),
		"comments in a list":           "[" + full("a,#\n")[1:],
		"comments behind entries":      full("- a #b\n#\n"),
		"a long comment":               "#" + full(" #")[1:],
		"a long line":                  full("x"),
		"line ends":                    full("\n"),
		"carriage returns":             full("\r"),
		"spaces":                       full(" "),
		"tabs":                         full("\t"),
		"tabs in quotes":               `"` + full("\t")[2:] + `"`,
		"escapes":                      `"` + full(`\U00010ffff`)[20:] + `"`,
		"open quotes":                  full(`'"`),
		"a text of many lines":         "a: " + full("b\n ")[3:],
		"a folded text":                "a: >\n" + full(" b\n\n")[8:],
		"a text of the rest":           "a: |\n" + full(" b\n")[8:],
		"a block in a block":           full("a: |\n"),
		"colons":                       full(":"),
		"colons in a mapping":          "{" + full(":")[1:],
		"commas":                       "[" + full(",")[1:],
		"question marks":               "{" + full("?,")[1:],
		"reserved characters":          full("@"),
		"byte order marks":             full("\ufeff"),
		"line separators":              full("\u2028"),
		"too many rules":               "rules:\n" + strings.Repeat("- exact: [a]\n", rulesfile.MaxRules+1),
		"a long name":                  "rules:\n- exact: [" + strings.Repeat("a", rulesfile.MaxNameSize+1) + "]\n",
		"a long template":              "rules:\n- template: " + strings.Repeat("{a}-", rulesfile.MaxNameSize/4+1) + "\n",
		"a long key":                   "rules:\n- " + strings.Repeat("a", 1000) + ": b\n",
		"a fault behind many lines":    numbered("k%d:\n") + "]",
		"a large file":                 "rules:\n- exact: [a]\n" + full("# b\n"),
	}
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := parse(t, []byte(text))
			var bad *rulesfile.Error
			if !errors.As(err, &bad) {
				t.Fatalf("error %v, want an *Error", err)
			}
			if len(err.Error()) > 200 {
				t.Errorf("a long error: %v", err)
			}
		})
	}
}

func TestTheLimitsAreWhatTheErrorsSay(t *testing.T) {
	long, rule := strings.Repeat("n", rulesfile.MaxNameSize), "- template: x-{y}\n"
	within := map[string]string{
		"the longest name":     "rules:\n- exact: [" + long + "]\n",
		"the longest template": "rules:\n- template: '" + long[3:] + "{x}'\n",
		"the most rules":       "rules:\n" + strings.Repeat(rule, rulesfile.MaxRules),
		"the largest file":     "rules:\n" + rule + "#" + strings.Repeat("x", rulesfile.MaxSize-len("rules:\n"+rule+"#")),
		"thousands of names":   "rules:\n- exact: [" + strings.Join(strings.Split(numbered("tenant-%d/orders ")[:100_000], " "), ", ") + "]\n",
	}
	for name, text := range within {
		if _, err := parse(t, []byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	beyond := map[string]string{
		"rules:\n- exact: [a" + long + "]\n":                          "rules.yaml:2:11: rules[0].exact[0]: is longer than 4096 bytes",
		"rules:\n- template: '{x}" + long + "'\n":                     "rules.yaml:2:13: rules[0].template: is longer than 4096 bytes",
		"rules:\n" + strings.Repeat(rule, rulesfile.MaxRules+1):       "rules.yaml:1002:3: rules: has more than 1000 rules; one template covers many names",
		"rules:\n" + strings.Repeat("#", rulesfile.MaxSize):           "rules.yaml: is larger than 131072 bytes",
		"rules: " + strings.Repeat("[", 20_000):                       "rules.yaml:1: this is nested more deeply than any rules file",
		"rules: " + strings.Repeat("[", 50) + strings.Repeat("]", 50): "rules.yaml:1:9: rules[0]: has no keys; valid keys: exact, template, literals, policy",
	}
	for text, want := range beyond {
		if _, err := parse(t, []byte(text)); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestLoadReadsNoMoreThanTheLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(path, []byte(full("#\n")+"###"), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		path:               "leaderscope: rules file: " + path + " is larger than 131072 bytes",
		filepath.Dir(path): "leaderscope: rules file: " + filepath.Dir(path) + " is a directory; give the path of a file in it",
		os.DevNull:         "leaderscope: rules file: " + os.DevNull + " is a device; give the path of a regular file",
		"":                 "leaderscope: rules file: the path is empty",
	} {
		if _, err := rulesfile.Load(file); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// What a sensible file may contain is no reason to refuse it.
func TestBracketsAndMarksWithinTextsAndCommentsAreLegal(t *testing.T) {
	brackets := strings.Repeat("[{&*!?-", 500)
	for name, text := range map[string]string{
		"brackets in a comment":       "# " + brackets + "\nrules:\n- exact: [a] # " + brackets + "\n",
		"brackets in double quotes":   "rules:\n- exact: [\"" + brackets + "\"]\n",
		"brackets in single quotes":   "rules:\n- exact: ['" + brackets + "']\n",
		"brackets in a plain text":    "rules:\n- exact:\n  - a" + brackets + "\n",
		"brackets in a text of lines": "rules:\n- exact:\n  - |\n    " + brackets + "\n",
		"quotes in a plain text":      "rules:\n- exact:\n  - it's \"so\"\n",
		"a byte order mark":           "\ufeffrules:\n- exact: [a]\n",
		"line ends of Windows":        "rules:\r\n- exact: [a]\r\n",
		"JSON":                        `{"rules": [{"exact": ["a", "b"], "policy": "raw"}, {"literals": true}]}`,
		"JSON with tabs":              "{\n\t\"rules\": [\n\t\t{\"exact\": [\"a\\u0000\"]}\n\t]\n}\n",
		"JSON on one long line":       `{"rules": [{"exact": ["` + strings.Repeat(`a`, 4000) + `"` + strings.Repeat(" ", 90_000) + `]}]}`,
		"a document start and end":    "%YAML 1.1\n---\nrules:\n- exact: [a]\n...\n",
		"an empty second document":    "rules:\n- exact: [a]\n---\n",
		"deep indentation":            "rules:\n" + strings.Repeat(" ", 300) + "- exact: [a]\n",
		"names of other scripts":      "rules:\n- exact: [租户, café, 🔒]\n",
		"a list over lines":           "rules:\n- exact: [\n  a, # one\n\n  b,\n ]\n",
	} {
		if _, err := parse(t, []byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzAnyFileIsRulesOrAnErrorWithinBounds(f *testing.F) {
	for _, s := range []string{"", "rules:\n- exact: [a]\n", "rules:\n- &a {template: 'x-{y}'}\n- *a\n", "rules:\n- <<: *a\n", "{}", "- 1", "rules: !!binary x", "rules:\n- null\n",
		"rules:\n- literals: true\n  policy: hash\n", "[", "- ", "? ", "a:\n", "{a: ", "#\n", "---\n", "\t", `"\u0041"`, "a: >\n b\n", "&a [*a]", "%YAML 1.1\n---\n", "\ufeff", "\xff"} {
		f.Add([]byte(s), uint16(1))
		f.Add([]byte(s), uint16(1000))
	}
	f.Fuzz(func(t *testing.T, data []byte, repeat uint16) {
		if n := len(data); n > 0 {
			data = []byte(strings.Repeat(string(data), min(int(repeat)+1, max(1, rulesfile.MaxSize/n))))
		}
		rules, err := parse(t, data)
		var bad *rulesfile.Error
		if err != nil && !errors.As(err, &bad) {
			t.Errorf("error %v is no *Error", err)
		}
		if bad != nil && (bad.Line < 0 || bad.Line > len(data)+1 || bad.Column < 0) {
			t.Errorf("an error at line %d, column %d", bad.Line, bad.Column)
		}
		if err == nil && len(rules) == 0 {
			t.Error("neither rules nor an error")
		}
		for _, r := range rules {
			if r.Err() != nil {
				t.Errorf("a malformed rule is returned: %v", r.Err())
			}
		}
	})
}
