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

var someView = view{
	phase: "[1/8]", pending: "nothing", firing: strings.Repeat("leader: NoLeader (critical) ", 5),
	replicas: []replicaView{{name: "replica-1", process: "running", scraped: "up", leads: "leads", headroom: "2.1 s"}},
}
