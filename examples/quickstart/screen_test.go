package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"
)

func TestScreenPrintsPlainLinesWhereThereIsNoTerminal(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	s := newScreen(file)
	s.draw(someView)
	s.say("[%d/8] %s", 1, "Three healthy replicas")
	s.close()
	got, err := os.ReadFile(file.Name())
	if want := "[1/8] Three healthy replicas\n"; err != nil || string(got) != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestScreenKeepsTheTableBelowTheLines(t *testing.T) {
	var out bytes.Buffer
	s := &screen{out: &out, live: true, width: func() int { return 60 }}
	s.draw(someView)
	frame := s.frame
	out.Reset()
	s.say("a line")
	up := "\x1b[" + "9A\x1b[J"
	if got, want := out.String(), up+"a line\n"+frame; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, line := range strings.Split(frame, "\n") {
		if w := lipgloss.Width(line); w > 60 {
			t.Errorf("a line is %d wide and would wrap: %q", w, line)
		}
	}
}

func TestLinesOfAPhaseFitIntoATerminal(t *testing.T) {
	long := strings.Repeat("x", 90)
	for _, c := range []struct{ name, text, want string }{
		{"short", "nothing", "      seen      nothing\n"},
		{"just fits", strings.Repeat("x", 64), "      seen      " + strings.Repeat("x", 64) + "\n"},
		{"one column more", strings.Repeat("x", 60) + " 1234", "      seen      " + strings.Repeat("x", 60) + "\n                1234\n"},
		{"one long word", long, "      seen      " + long + "\n"},
		{"a long word at the end", "a " + long, "      seen      a\n                " + long + "\n"},
		{"an alert and its severity stay together", "LeaseExceeded (critical), LowHeadroom (warning), NearLease (warning)", "" +
			"      seen      LeaseExceeded (critical), LowHeadroom (warning),\n" +
			"                NearLease (warning)\n"},
		{"three lines", strings.Repeat("LeaseExceeded (critical), ", 5), "" +
			"      seen      LeaseExceeded (critical), LeaseExceeded (critical),\n" +
			"                LeaseExceeded (critical), LeaseExceeded (critical),\n" +
			"                LeaseExceeded (critical), \n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			(&screen{out: &out}).item("seen", c.text)
			if got := out.String(); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestHeadsOfPhasesFitIntoATerminal(t *testing.T) {
	phases := script("", "")
	for i, p := range phases {
		if head := headOf(len(phases)-1, len(phases), step{i + 1, p}); len(head) > 80 {
			t.Errorf("%q has %d columns", head, len(head))
		}
	}
}

func TestTheFrameFitsIntoATerminal(t *testing.T) {
	v := someView
	v.phase = headOf(11, 12, step{12, phase{title: strings.Repeat("x", 60)}})
	v.store = "1234567 writes admitted, 1 late ones refused; the highest token is 123456"
	v.pending = strings.Repeat("leader: NoLeader (critical) ", 9)
	v.replicas = nil
	for range 4 {
		v.replicas = append(v.replicas, replicaView{"replica-1", "suspended", "down", "leads", "-12.1 s", "runs", "12.1 s"})
	}
	frame := cut(v.render(), 80)
	lines := strings.Split(strings.TrimSuffix(frame, "\n"), "\n")
	if len(lines) > 23 {
		t.Errorf("%d lines: the line above it would not be seen", len(lines))
	}
	whole := strings.Split(strings.TrimSuffix(v.render(), "\n"), "\n")
	for i, line := range lines {
		if w := lipgloss.Width(line); w > 80 {
			t.Errorf("%d columns: %q", w, line)
		}
		if table := i > 0 && i < 9; table && strings.TrimRight(line, " ") != whole[i] {
			t.Errorf("the table is cut: %q", line)
		}
	}
}

func TestProgressOfABuildIsALineForEachHundredPackages(t *testing.T) {
	var out bytes.Buffer
	b := &builtPackages{screen: &screen{out: &out}}
	for range 250 {
		for _, part := range []string{"example.com/", "a/b\n"} {
			if n, err := b.Write([]byte(part)); n != len(part) || err != nil {
				t.Fatal(n, err)
			}
		}
	}
	b.Write([]byte("# example.com/c\nc.go:1:2: undefined: x\n"))
	if got, want := out.String(), "    100 packages built\n    200 packages built\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := b.other.String(), "# example.com/c\nc.go:1:2: undefined: x\n"; got != want {
		t.Errorf("the rest is %q, want %q", got, want)
	}
}

var someView = view{
	phase: "[1/8]", pending: "nothing", firing: strings.Repeat("leader: NoLeader (critical) ", 5),
	replicas: []replicaView{{name: "replica-1", process: "running", scraped: "up", leads: "leads", headroom: "2.1 s"}},
}
