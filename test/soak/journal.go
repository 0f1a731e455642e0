package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"
)

// What happens in a candidate.
const (
	eventRun      = "run"      // it asks to lead
	eventBegun    = "begun"    // its work begins
	eventEnded    = "ended"    // its work has ended
	eventReturned = "returned" // the lock was given back, or never held
	eventStop     = "stop"     // it was asked to stop
	eventStalled  = "stalled"  // it did not run for some time, up to then
)

// event is a line of a candidate's log.
type event struct {
	At   time.Time
	What string
	For  time.Duration `json:",omitempty"` // of a stall
}

// journal is a candidate's log. A line is in the file when write returns, so
// that it outlives the process.
type journal struct {
	mu   sync.Mutex
	file *os.File
}

func openJournal(name string) (*journal, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &journal{file: f}, nil
}

func (j *journal) write(what string) { j.add(event{At: time.Now(), What: what}) }

// stalled notes that the process did not run.
func (j *journal) stalled(from, to time.Time) {
	j.add(event{At: to, What: eventStalled, For: to.Sub(from)})
}

func (j *journal) add(e event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	line, err := json.Marshal(e)
	if err == nil {
		_, err = j.file.Write(append(line, '\n'))
	}
	if err != nil {
		// Figures that lack an event would be wrong without a word.
		fmt.Fprintln(os.Stderr, "soak: candidate's log:", err)
		os.Exit(1)
	}
}

// readJournal reads the events of a file. A process that was killed may have
// left half a line at its end.
func readJournal(name string) ([]event, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []event
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			break
		}
		all = append(all, e)
	}
	return all, nil
}
