package main

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"os"
	"time"

	"github.com/leaderscope/leaderscope/test/soak/timeline"
)

// recording is all that was observed in a run. A result follows from it without
// a server.
type recording struct {
	Elector, Version string
	Seed             uint64
	Start            time.Time
	Length           time.Duration
	Lives            []recordedLife
	Applied          []applied
	Loads            []float64 // at the faults
	Looks            []timeline.Look
	Stalls           []timeline.Span // of the soak's process
	Harness          harness
	Writes           []write
}

// recordedLife is one process of a candidate.
type recordedLife struct {
	Candidate int
	Holder    string
	Events    []event
	Readings  []reading
	Last      *reading // as it printed it at its end; nil when it was killed
}

// recorded is what was observed.
func (r *soak) recorded(seed uint64) (*recording, error) {
	out := &recording{
		Elector: r.backend.name, Version: r.server.Version(), Seed: seed, Start: r.start, Length: time.Since(r.start),
		Applied: r.applied, Loads: r.loads, Stalls: r.stalled, Writes: r.register.all(),
	}
	out.Looks, out.Harness = r.referee.result()
	for _, p := range r.candidates {
		for _, l := range p.lives {
			told, err := l.recorded(p.number)
			if err != nil {
				return nil, err
			}
			out.Lives = append(out.Lives, told)
		}
	}
	return out, nil
}

// write keeps a recording in a compressed file.
func (r *recording) write(file string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	z := gzip.NewWriter(f)
	return errors.Join(json.NewEncoder(z).Encode(r), z.Close(), f.Close())
}

// readRecording reads such a file.
func readRecording(file string) (*recording, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	r := new(recording)
	return r, json.NewDecoder(z).Decode(r)
}
