package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/lipgloss/table"
	"github.com/charmbracelet/x/term"
	"github.com/mattn/go-isatty"
)

// screen shows lines that stay, and below them a table that is drawn again,
// where there is a terminal to draw on. It is safe for concurrent use.
type screen struct {
	out   io.Writer
	live  bool
	width func() int // of the terminal; 0 unknown

	mu    sync.Mutex
	frame string // what is drawn now
}

func newScreen(out *os.File) *screen {
	plain := os.Getenv("NO_COLOR") != "" || os.Getenv("CI") != "" || os.Getenv("TERM") == "dumb"
	width := func() int {
		w, _, _ := term.GetSize(out.Fd())
		return w
	}
	return &screen{out: out, live: isatty.IsTerminal(out.Fd()) && !plain, width: width}
}

// say prints a line that stays.
func (s *screen) say(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	fmt.Fprintf(s.out, format+"\n", args...)
	fmt.Fprint(s.out, s.frame)
}

// item prints a line of a phase, folded for the terminals of 80 columns.
func (s *screen) item(name, text string) {
	const indent, columns = 16, 80
	s.say("%s", fold(fmt.Sprintf("      %-10s%s", name, text), strings.Repeat(" ", indent), columns))
}

// fold breaks a line between words, an alert and its severity being one. What
// follows begins with the indent.
func fold(line, indent string, columns int) string {
	const joint = "\x00("
	line = strings.ReplaceAll(line, " (", joint)
	var folded strings.Builder
	for len(line) > columns {
		end := strings.LastIndexByte(line[:columns+1], ' ')
		if end <= len(indent) {
			break // one long word
		}
		folded.WriteString(line[:end] + "\n")
		line = indent + line[end+1:]
	}
	return strings.ReplaceAll(folded.String()+line, joint, " (")
}

// draw replaces the table.
func (s *screen) draw(v view) {
	if !s.live {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	s.frame = cut(v.render(), s.width())
	fmt.Fprint(s.out, s.frame)
}

// close takes the table away.
func (s *screen) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	s.frame = ""
}

func (s *screen) clear() {
	if lines := strings.Count(s.frame, "\n"); lines > 0 {
		fmt.Fprintf(s.out, "\x1b[%dA\x1b[J", lines) // up, and clear what is below
	}
}

// cut shortens lines that the terminal would wrap: they would be counted as
// one and cleared as one.
func cut(text string, width int) string {
	if width <= 0 {
		return text
	}
	return lipgloss.NewStyle().MaxWidth(width).Render(strings.TrimSuffix(text, "\n")) + "\n"
}

// view is what the table shows.
type view struct {
	phase, store    string
	replicas        []replicaView
	pending, firing string
}

// replicaView is one row: all values as text, empty where there is none.
type replicaView struct {
	name, process, scraped, leads, headroom, job, afterLoss string
}

var (
	bold   = lipgloss.NewStyle().Bold(true)
	faint  = lipgloss.NewStyle().Faint(true)
	green  = lipgloss.NewStyle().Foreground(lipgloss.Color("2"))
	yellow = lipgloss.NewStyle().Foreground(lipgloss.Color("3"))
	red    = lipgloss.NewStyle().Foreground(lipgloss.Color("1")).Bold(true)
)

func (v view) render() string {
	t := table.New().Border(lipgloss.RoundedBorder()).BorderStyle(faint).
		Headers("replica", "process", "scrape", "leads", "headroom", "job", "work after loss").
		StyleFunc(func(row, _ int) lipgloss.Style {
			style := lipgloss.NewStyle().Padding(0, 1)
			switch {
			case row == table.HeaderRow:
				return style.Inherit(bold)
			case v.replicas[row].leads != "":
				return style.Inherit(green)
			case v.replicas[row].process != "running":
				return style.Inherit(yellow)
			}
			return style
		})
	for _, r := range v.replicas {
		t.Row(r.name, r.process, r.scraped, r.leads, r.headroom, r.job, r.afterLoss)
	}
	firing := green
	if v.firing != "nothing" {
		firing = red
	}
	return fmt.Sprintf("%s\n%s\n%s %s\n%s %s\n%s %s\n", bold.Render(v.phase), t.Render(),
		faint.Render("store:  "), v.store,
		faint.Render("pending:"), yellow.Render(v.pending), faint.Render("firing: "), firing.Render(v.firing))
}
