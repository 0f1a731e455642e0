package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/leaderscope/leaderscope/test/alertquality/fleet"
)

// tracedMiss is how long a fault must last for its miss to be told, tracedDelay
// how late a detection must be.
const (
	tracedMiss  = 150 * time.Second
	tracedDelay = 75 * time.Second
)

// traces tell of the false firings of a rule of ours, of late detections and of
// the long faults that it missed, with the incident before.
func (g *figures) traces(j judgedRule, w fleet.World, h *fleet.History) (out []string) {
	if strings.ContainsAny(j.key, ",:") {
		return nil
	}
	notify := func(what string, s fleet.Span) {
		before := "nothing"
		for _, i := range h.Incidents {
			if i.From <= s.From {
				before = fmt.Sprintf("%s, from %s to %s", i.Kind, i.From.Round(time.Second), i.To.Round(time.Second))
			}
		}
		out = append(out, fmt.Sprintf("%s: %s from %s to %s after %s; %s", j.key, what, s.From.Round(time.Second), s.To.Round(time.Second), before, w))
	}
	for _, f := range g.wrongs {
		notify("false", f.Span)
	}
	for _, s := range g.slow {
		notify("after "+s.Length().Round(time.Second).String()+",", s)
	}
	for _, s := range g.missed {
		if s.Length() > tracedMiss {
			notify("missed", s)
		}
	}
	return out
}
