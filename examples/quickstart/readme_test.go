//go:build unix

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The README shows a whole run. A run of all phases takes minutes, so the printer of
// the demo plays them here from the script: only what was seen in a phase comes from
// the README itself. The next test holds that to the code, and TestDemo to real
// phases.
func TestTheREADMEShowsWhatTheDemoPrints(t *testing.T) {
	chosen, err := choose(usualPhases)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	d := &demo{
		dir: filepath.Join(t.TempDir(), tempPrefix+"1"), leader: "l", job: "j", locks: locks{"l": "leader", "j": "job", "": "service"},
		screen: &screen{out: &out}, store: &store{address: "127.0.0.1:1"}, cluster: &cluster{replicas: map[string]*running{}},
	}
	if err := os.Mkdir(d.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range replicas {
		d.cluster.replicas[name] = &running{config: replicaConfig{Metrics: "127.0.0.1:1"}}
	}

	steps := plan(script(d.leader, d.job), chosen)
	d.screen.introduce(steps)
	d.sayAddresses()
	if err := d.sayFiles(); err != nil {
		t.Fatal(err)
	}
	d.screen.say(buildingObserver)
	d.screen.say(allAreUp)
	for i, s := range steps {
		s.expect = append(s.expect, s.outside...)
		d.announcePhase(headOf(i, len(steps), s), s.phase)
		all := map[alarm]bool{}
		for _, a := range s.expect {
			all[a] = true
		}
		v := verdict{expected: s.expect, fired: sorted(all)}
		for _, line := range shownInREADME(t) {
			if line.phase == s.number && line.item == "seen" {
				v.notes = append(v.notes, line.text)
			}
		}
		d.tell(v, time.Second)
	}
	d.screen.say(reportIsAt, "/home/me/leaderscope/quickstart-report.html")
	d.screen.say(allAsExpected)

	// Only the folder, the ports and the times of phases may differ.
	if diff := cmp.Diff(stable(outputInREADME(t)), stable(strings.ReplaceAll(out.String(), d.dir, "/tmp/"+tempPrefix+"1"))); diff != "" {
		t.Errorf("README.md (-) shows what the demo does not print (+): put the output of make demo there\n%s", diff)
	}
}

// stable puts a sign in place of what differs from run to run: ports, the folder, and
// how long a phase took.
func stable(text string) []string {
	text = regexp.MustCompile(`127\.0\.0\.1:[0-9]+|`+tempPrefix+`[0-9]+|expected, [0-9]+ s`).ReplaceAllString(text, "#")
	return strings.Split(strings.TrimSpace(text), "\n")
}

func TestWhatTheREADMESaysWasSeenHasAFormatInTheCode(t *testing.T) {
	formats := formatsOfChecks(t)
	lines := slices.DeleteFunc(shownInREADME(t), func(l shownLine) bool { return l.item != "seen" })
	if len(lines) < 8 {
		t.Fatalf("README.md shows %d lines of what was seen", len(lines))
	}
	for _, l := range lines {
		if !slices.ContainsFunc(formats, func(f *regexp.Regexp) bool { return f.MatchString(l.text) }) {
			t.Errorf("phase %d: README.md says %q was seen, and no check of the demo says that", l.phase, l.text)
		}
	}
}

// formatsOfChecks are the texts of all checks: what is passed to [seen] or stands in
// a check, with anything in place of a verb.
func formatsOfChecks(t *testing.T) []*regexp.Regexp {
	t.Helper()
	all := []*regexp.Regexp{regexp.MustCompile("^" + regexp.QuoteMeta(refusedWrites) + " [0-9]+$")}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	verb := regexp.MustCompile(`%[.0-9]*[a-z]`)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 || !isNamed(call.Fun, "seen", "Sprintf") {
				return true
			}
			literal, ok := call.Args[0].(*ast.BasicLit)
			if !ok {
				return true
			}
			format, err := strconv.Unquote(literal.Value)
			words := strings.Fields(verb.ReplaceAllString(format, ""))
			if err != nil || len(words) < 2 { // a format without words would match everything
				return true
			}
			var pattern strings.Builder
			for i, part := range verb.Split(format, -1) {
				if i > 0 {
					pattern.WriteString(`\S+`)
				}
				pattern.WriteString(regexp.QuoteMeta(part))
			}
			all = append(all, regexp.MustCompile("^"+pattern.String()+"$"))
			return true
		})
	}
	return all
}

func isNamed(fun ast.Expr, names ...string) bool {
	switch f := fun.(type) {
	case *ast.Ident:
		return slices.Contains(names, f.Name)
	case *ast.SelectorExpr:
		return slices.Contains(names, f.Sel.Name)
	}
	return false
}

// shownLine is what the README shows for one item of a phase.
type shownLine struct {
	phase      int
	item, text string
}

// shownInREADME lists the items of all phases, with folded lines joined.
func shownInREADME(t *testing.T) (all []shownLine) {
	t.Helper()
	item := regexp.MustCompile(`^ {6}(expected|seen|fired) +(.*)$`)
	phase := 0
	for line := range strings.Lines(outputInREADME(t)) {
		line = strings.TrimSuffix(line, "\n")
		fmt.Sscanf(line[strings.Index(line, "]")+1:], " Phase %d:", &phase) // other lines keep the phase
		if m := item.FindStringSubmatch(line); m != nil {
			all = append(all, shownLine{phase, m[1], m[2]})
		} else if strings.HasPrefix(line, strings.Repeat(" ", 16)) {
			all[len(all)-1].text += " " + strings.TrimSpace(line)
		}
	}
	return all
}

// outputInREADME is the block that begins as the demo does.
func outputInREADME(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(introduction, "\n")
	_, after, ok := strings.Cut(string(page), "```\n"+first)
	block, _, closed := strings.Cut(after, "```")
	if !ok || !closed {
		t.Fatal("README.md shows no output of the demo")
	}
	return first + block
}

// shape puts a sign in place of numbers.
func shape(text string) string {
	return regexp.MustCompile(`[0-9]+(\.[0-9]+)?`).ReplaceAllString(text, "#")
}
