package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// soaked is what a run of test/soak found out about one elector.
type soaked struct {
	Title                   string
	Length                  time.Duration
	Terms                   int
	Overlap, LongestOverlap time.Duration
	Total                   struct {
		Led           time.Duration
		Active, Naive gauge
	}
}

type gauge struct{ FalseLeader, FalseAbsence, KnownAbsence, LongestLeader time.Duration }

// readSoak reads the results of test/soak, which are beside those of the fault
// tests.
func readSoak(results string) ([]soaked, error) {
	folder := filepath.Join(results, "..", "soak", "results")
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no results in %s; make soak writes them", folder)
	}
	var all []soaked
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var s soaked
		if err := json.Unmarshal(text, &s); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b soaked) int { return cmp.Compare(b.LongestOverlap, a.LongestOverlap) })
	return all, nil
}

// allows is what electors let happen, in spite of any metric.
func allows(b *bytes.Buffer, all []soaked) {
	b.WriteString("\n## What an elector allows\n\nHow long two processes worked at once in the runs of [truth](truth.md), by their own logs. " +
		"Work takes 0.1 s to stop, and a suspended process counts as at work. An elector that names one holder at a time does not prevent this: " +
		"a client that is cut off or suspended works on until it learns of its loss.\n\n" +
		"| elector | longest | in all | run | terms |\n| --- | --: | --: | --: | --: |\n")
	for _, s := range all {
		fmt.Fprintf(b, "| %s | %.2f s | %.2f s | %.0f min | %d |\n", s.Title, s.LongestOverlap.Seconds(), s.Overlap.Seconds(), s.Length.Minutes(), s.Terms)
	}
}

// The place for the worst figures.
const beginAccuracy, endAccuracy = "<!-- accuracy: generated, make generate -->\n", "<!-- /accuracy -->\n"

// worst are the worst figures of all runs, as an item of a list.
func worst(all []soaked) []byte {
	longest := slices.MaxFunc(all, func(a, b soaked) int { return cmp.Compare(a.Total.Active.LongestLeader, b.Total.Active.LongestLeader) })
	most := slices.MaxFunc(all, func(a, b soaked) int { return cmp.Compare(a.wrong(), b.wrong()) })
	absent := slices.MaxFunc(all, func(a, b soaked) int {
		return cmp.Compare(a.part(a.Total.Active.FalseAbsence), b.part(b.Total.Active.FalseAbsence))
	})
	known := slices.MaxFunc(all, func(a, b soaked) int {
		return cmp.Compare(a.part(a.Total.Active.KnownAbsence), b.part(b.Total.Active.KnownAbsence))
	})
	return fmt.Appendf(nil, "- The worst that was measured [with a fault every few seconds](docs/truth.md): `leader_active` was 1 without the lock for %.1f s at a stretch (%s) "+
		"and for %.2f %% of the leadership in all (%s; a gauge set by the callbacks: %.2f %%). It was 0 in spite of the lock for %.1f %% (%s), mostly because no answer said that the lock was still held, or because the elector had given up; otherwise for at most %.2f %%.\n",
		longest.Total.Active.LongestLeader.Seconds(), longest.Title, most.wrong(), most.Title, most.part(most.Total.Naive.FalseLeader),
		absent.part(absent.Total.Active.FalseAbsence), absent.Title, known.part(known.Total.Active.KnownAbsence))
}

func (s soaked) wrong() float64 { return s.part(s.Total.Active.FalseLeader) }

// part is a time in percent of the leadership; 0 without any.
func (s soaked) part(d time.Duration) float64 {
	if s.Total.Led <= 0 {
		return 0
	}
	return 100 * float64(d) / float64(s.Total.Led)
}
