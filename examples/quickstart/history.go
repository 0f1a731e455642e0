package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// span is a time in the life of a lane, such as a replica or the job. Its end is
// zero while it lasts.
type span struct {
	Lane, Text string
	Begin, End time.Time
}

// history is what was done to the replicas. It is safe for concurrent use; the
// zero value is empty.
type history struct {
	mu    sync.Mutex
	spans []span
}

// begin records that a state of the lane begins, unless it lasts already.
func (h *history) begin(lane, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lasting(lane, text) < 0 {
		h.spans = append(h.spans, span{Lane: lane, Text: text, Begin: time.Now()})
	}
}

// end records the end of states of the lane that last.
func (h *history) end(lane string, texts ...string) {
	h.endIf(lane, func(text string) bool { return slices.Contains(texts, text) })
}

// endOthers records the end of every other state of the lane.
func (h *history) endOthers(lane, text string) {
	h.endIf(lane, func(other string) bool { return other != text })
}

func (h *history) endIf(lane string, over func(text string) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, s := range h.spans {
		if s.Lane == lane && s.End.IsZero() && over(s.Text) {
			h.spans[i].End = time.Now()
		}
	}
}

func (h *history) lasting(lane, text string) int {
	return slices.IndexFunc(h.spans, func(s span) bool { return s.Lane == lane && s.Text == text && s.End.IsZero() })
}

// all returns the spans in the order of their begin.
func (h *history) all() []span {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.spans)
}

// The states of a replica, and the lane of the job.
const (
	isKilled     = "killed"
	isStopped    = "stopped"
	isSuspended  = "suspended"
	isAnother    = "configured with another etcd"
	isFallen     = "ended by itself"
	withoutEtcd  = "etcd member stopped"
	withoutVoice = "does not campaign"
	jobLane      = "job"
)

// told records what a command to a replica begins or ends.
func (h *history) told(name, command string) {
	switch command {
	case "member stop":
		h.begin(name, withoutEtcd)
	case "member start":
		h.end(name, withoutEtcd)
	case "campaign off":
		h.begin(name, withoutVoice)
	case "campaign on":
		h.end(name, withoutVoice)
	}
	if strings.HasPrefix(command, "job ") {
		text := jobState(command)
		h.endOthers(jobLane, text)
		if text != "" {
			h.begin(jobLane, text)
		}
	}
}

// jobState is what a command does to the job; empty when the job is as usual.
func jobState(command string) string {
	switch share, err := strconv.ParseFloat(strings.TrimPrefix(command, "job "), 64); {
	case err != nil:
		return "fails each time"
	case share < 0:
		return "rests"
	case share == usualShare:
		return ""
	default:
		return fmt.Sprintf("takes %.0f %% of its lease", 100*share)
	}
}
