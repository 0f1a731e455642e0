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
// the README itself. A test below holds that to the code of the phase, and TestDemo to real
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

// Each line must be one that its own phase can print, not only some phase.
func TestWhatTheREADMESaysWasSeenHasAFormatInItsPhase(t *testing.T) {
	formats := formatsOfPhases(t)
	lines := slices.DeleteFunc(shownInREADME(t), func(l shownLine) bool { return l.item != "seen" })
	if len(lines) < 8 {
		t.Fatalf("README.md shows %d lines of what was seen", len(lines))
	}
	for _, l := range lines {
		if !matches(formats[l.phase], l.text) {
			t.Errorf("phase %d: README.md says %q was seen, and no check of this phase says that: put the output of make demo there", l.phase, l.text)
		}
	}
}

// A line of one phase is no line of another, except that of phases which do the same.
func TestAFormatBelongsToItsPhase(t *testing.T) {
	formats := formatsOfPhases(t)
	for _, l := range shownInREADME(t) {
		if l.item != "seen" {
			continue
		}
		for phase, of := range formats {
			if phase != l.phase && matches(of, l.text) {
				t.Errorf("phase %d also prints %q of phase %d", phase, l.text, l.phase)
			}
		}
	}
}

func matches(formats []*regexp.Regexp, text string) bool {
	return slices.ContainsFunc(formats, func(f *regexp.Regexp) bool { return f.MatchString(text) })
}

// said is what a function says in its checks, and which functions it calls.
type said struct {
	formats []*regexp.Regexp
	calls   []string
}

// formatsOfPhases are the texts of the checks of each phase, by its number: what its
// act, and the functions that it calls, pass to [seen] or to a check.
func formatsOfPhases(t *testing.T) map[int][]*regexp.Regexp {
	t.Helper()
	functions, acts := map[string]*said{}, map[string]string{}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				functions[f.Name.Name] = saidIn(f.Body)
				if f.Name.Name == "script" {
					ast.Inspect(f.Body, func(n ast.Node) bool { return actOf(n, acts) })
				}
			}
		}
	}
	all := map[int][]*regexp.Regexp{}
	for i, p := range script("", "") {
		act := acts[p.title]
		if functions[act] == nil {
			t.Fatalf("phase %q has no act in the script: %q", p.title, act)
		}
		visited, pending := map[string]bool{}, []string{act}
		for len(pending) > 0 {
			f := pending[0]
			if pending = pending[1:]; visited[f] || functions[f] == nil {
				continue
			}
			visited[f] = true
			all[i+1] = append(all[i+1], functions[f].formats...)
			pending = append(pending, functions[f].calls...)
		}
	}
	return all
}

// actOf notes the function that a phase of the script names as its act, by its title.
func actOf(n ast.Node, acts map[string]string) bool {
	phase, ok := n.(*ast.CompositeLit)
	if !ok {
		return true
	}
	title, act := "", ""
	for _, e := range phase.Elts {
		pair, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		switch v := pair.Value.(type) {
		case *ast.BasicLit:
			if isNamed(pair.Key, "title") {
				title, _ = strconv.Unquote(v.Value)
			}
		case *ast.Ident:
			if isNamed(pair.Key, "act") {
				act = v.Name
			}
		case *ast.CallExpr:
			if f, ok := v.Fun.(*ast.Ident); ok && isNamed(pair.Key, "act") {
				act = f.Name
			}
		}
	}
	acts[title] = act
	return true
}

// saidIn reads a function: a verb of a format stands for anything.
func saidIn(body *ast.BlockStmt) *said {
	s := &said{}
	verb := regexp.MustCompile(`%[.0-9]*[a-z]`)
	ast.Inspect(body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			s.calls = append(s.calls, id.Name) // also of functions that are passed on
			if id.Name == "refusedWrites" {
				s.formats = append(s.formats, regexp.MustCompile("^"+regexp.QuoteMeta(refusedWrites)+" [0-9]+$"))
			}
		}
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
		s.formats = append(s.formats, regexp.MustCompile("^"+pattern.String()+"$"))
		return true
	})
	return s
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
