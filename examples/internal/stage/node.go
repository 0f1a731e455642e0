//go:build unix

package stage

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// variable tells a copy of a program that it plays under a director, who
// speaks to it through its standard input.
const variable = "LEADERSCOPE_EXAMPLE_NODE"

// What a node prints for its director; anything else it says is passed on.
const (
	metricsLine = "metrics: "
	countedLine = "counted: "
	drainCue    = "drain"
)

// IsNode reports whether this process is a copy that Start started.
func IsNode() bool { return os.Getenv(variable) != "" }

// Node is a running copy of this program.
type Node struct {
	Name    string
	process *process
	cues    io.WriteCloser

	metrics, counted chan string   // one line each
	heard            chan struct{} // closed when all was passed on
	address          string
}

// Start starts a copy of this program with these arguments and waits until it
// has said where its metrics are. say gets what else it prints, a line each,
// never two at once.
func Start(ctx context.Context, name string, say func(line string), args ...string) (*Node, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), variable+"="+name)
	cues, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, input, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = input, input
	p, err := start(cmd)
	input.Close()
	if err != nil {
		output.Close()
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	n := &Node{Name: name, process: p, cues: cues, metrics: make(chan string, 1), counted: make(chan string, 1), heard: make(chan struct{})}
	go n.listen(output, say)
	if n.address, err = n.line(ctx, n.metrics, "where its metrics are"); err != nil {
		n.Kill()
		return nil, err
	}
	return n, nil
}

var speaking sync.Mutex

func (n *Node) listen(output io.ReadCloser, say func(string)) {
	defer close(n.heard)
	defer output.Close()
	lines := bufio.NewScanner(output)
	lines.Buffer(nil, 1<<20) // counts of many locks are a long line
	for lines.Scan() {
		line := lines.Text()
		if text, ok := strings.CutPrefix(line, metricsLine); ok {
			n.metrics <- text
		} else if text, ok := strings.CutPrefix(line, countedLine); ok {
			n.counted <- text
		} else {
			speaking.Lock()
			say(line)
			speaking.Unlock()
		}
	}
}

// line waits for a line that the node owes.
func (n *Node) line(ctx context.Context, lines <-chan string, what string) (string, error) {
	select {
	case line := <-lines:
		return line, nil
	case <-n.process.ended:
		return "", fmt.Errorf("%s ended (%v) before it said %s", n.Name, n.process.err, what)
	case <-ctx.Done():
		return "", fmt.Errorf("%s did not say %s: %w", n.Name, what, context.Cause(ctx))
	case <-time.After(time.Minute):
		return "", fmt.Errorf("%s did not say %s within a minute", n.Name, what)
	}
}

// Address is where the node's metrics are, a URL.
func (n *Node) Address() string { return n.address }

// Gone reports whether the node has ended, and all that it printed was passed
// on.
func (n *Node) Gone() bool {
	select {
	case <-n.heard:
		return true
	default:
		return false
	}
}

// Kill ends the node at once, as kill -9 does.
func (n *Node) Kill() {
	n.process.kill()
	<-n.heard
}

// Suspend stops the process of the node, as swapping or a live migration does;
// Continue resumes it.
func (n *Node) Suspend()  { n.process.signal(syscall.SIGSTOP) }
func (n *Node) Continue() { n.process.signal(syscall.SIGCONT) }

// Drain has the node end its work, and reads into counted what it counted
// itself. Its metrics can still be read, and no longer change.
func (n *Node) Drain(ctx context.Context, counted any) error {
	if _, err := io.WriteString(n.cues, drainCue+"\n"); err != nil {
		return fmt.Errorf("%s: %w", n.Name, err)
	}
	return n.Reported(ctx, counted)
}

// Reported waits until the node has ended its work by itself, and reads into
// counted what it counted.
func (n *Node) Reported(ctx context.Context, counted any) error {
	line, err := n.line(ctx, n.counted, "what it counted")
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(line), counted)
}

// Stop lets the node end by itself, and returns how it ended.
func (n *Node) Stop() error {
	_ = n.cues.Close()
	select {
	case <-n.process.ended:
		<-n.heard
		return n.process.err
	case <-time.After(20 * time.Second):
		n.Kill()
		return errors.New(n.Name + " did not stop and was killed")
	}
}

// Metrics scrapes the node.
func (n *Node) Metrics(ctx context.Context) (Metrics, error) { return scrape(ctx, n.address) }

// Cues is for the node: work ends when ctx does, or when the director says so
// or is gone; leave waits until the director has read what it wants. Without a
// director, work is ctx and leave returns at once.
func Cues(ctx context.Context) (work context.Context, leave func()) {
	if !IsNode() {
		return ctx, func() {}
	}
	work, cancel := context.WithCancel(ctx)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		defer cancel()
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			if in.Text() == drainCue {
				cancel()
			}
		}
	}()
	return work, func() { <-gone }
}

// Report is for the node: it prints what it counted itself.
func Report(counts any) error {
	text, err := json.Marshal(counts)
	if err != nil {
		return err
	}
	fmt.Println(countedLine + string(text))
	return nil
}
