// Command alertquality measures how good the alerts are: it simulates services
// for weeks, runs the generated rules over what Prometheus would have stored,
// and compares when they fire with what was true. `make alert-quality` writes
// docs/alert-quality.md with it.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/leaderscope/leaderscope/alerts"
	"github.com/leaderscope/leaderscope/test/alertquality/fleet"
)

// publishedSeed is of the worlds of the published page. Rules are tuned and
// bounds are set on others: tuningSeed and those that follow it.
const (
	tuningSeed    = 1
	publishedSeed = 100_000
)

func main() {
	log.SetFlags(0)
	var c command
	flag.Uint64Var(&c.seed, "seed", tuningSeed, "`seed` of the first world; the others follow")
	flag.IntVar(&c.calm, "calm", 8, "`worlds` of a calm mix, a week each, for each scrape interval")
	flag.IntVar(&c.stress, "stress", 8, "`worlds` of a stress mix, a week each, for each scrape interval")
	flag.DurationVar(&c.scrape, "scrape", 0, "one scrape `interval`; 0: 15s, 30s and 60s")
	flag.DurationVar(&c.evaluation, "evaluation", 0, "`time` between evaluations; 0: that of the scrapes")
	flag.StringVar(&c.rules, "rules", "", "Prometheus rules `file` to judge instead of the generated rules")
	flag.BoolVar(&c.trace, "trace", false, "log each false firing of our rules, each late detection, and each long fault that they missed")
	flag.BoolVar(&c.check, "check", false, "compare the figures of a few fixed worlds with bounds.yaml, and fail where one is worse")
	flag.BoolVar(&c.record, "record", false, "record those figures in bounds.yaml")
	published := flag.Bool("published", false, "the worlds of the published page, whatever the other flags say")
	out := flag.String("out", "", "`file` to write; empty: standard output")
	flag.Parse()
	if *published {
		c = command{seed: publishedSeed, calm: 8, stress: 6}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var page bytes.Buffer
	if err := c.run(ctx, &page); err != nil {
		log.Fatal("alertquality: ", err)
	}
	if *out == "" {
		fmt.Print(page.String())
		return
	}
	if err := os.WriteFile(*out, page.Bytes(), 0o644); err != nil {
		log.Fatal("alertquality: ", err)
	}
}

type command struct {
	seed         uint64
	calm, stress int
	scrape       time.Duration
	evaluation   time.Duration
	rules        string
	trace        bool
	check        bool
	record       bool
}

// witnessed is the number of worlds with witnesses: their figures are given for the
// middle interval.
func witnessed(stress int, scrape time.Duration) int {
	if scrape != 30*time.Second {
		return 0
	}
	return (stress + 1) / 2
}

// scrapes are the intervals that figures are given for.
var scrapes = []time.Duration{15 * time.Second, 30 * time.Second, time.Minute}

func (c command) run(ctx context.Context, out io.Writer) error {
	rules, err := rulesOf(alerts.Default())
	if c.rules != "" {
		rules, err = rulesFrom(c.rules)
	}
	if err != nil {
		return err
	}
	mutes, err := inhibitions(alerts.Default())
	if err != nil {
		return err
	}
	if c.check || c.record {
		return check(ctx, rules, mutes, c.record)
	}
	p := report{command: c, out: out}
	for _, scrape := range scrapes {
		if c.scrape != 0 && c.scrape != scrape {
			continue
		}
		one := result{scrape: scrape}
		for _, part := range []struct {
			into   **study
			worlds []fleet.World
		}{
			{&one.calm, heldWorlds(c.seed, c.calm, scrape, fleet.Calm())},
			{&one.stress, heldWorlds(c.seed+1000, c.stress, scrape, fleet.Stress())},
			{&one.jobs, jobWorlds(c.seed+2000, (c.stress+3)/4, scrape, fleet.Stress())},
			{&one.odd, oddWorlds(c.seed+3000, (c.stress+1)/2, scrape, fleet.Stress())},
			{&one.witnessed, witnessedWorlds(c.seed+4000, witnessed(c.stress, scrape), scrape, fleet.Stress())},
		} {
			for i := range part.worlds {
				part.worlds[i].Evaluation = c.evaluation
			}
			start := time.Now()
			if *part.into, err = newStudy(ctx, part.worlds, rules, mutes); err != nil {
				return err
			}
			if c.trace {
				log.Print(strings.Join((*part.into).traces, "\n"))
			}
			log.Printf("scrape %s: %d worlds in %s", scrape, len(part.worlds), time.Since(start).Round(time.Second))
		}
		p.results = append(p.results, one)
	}
	p.write()
	return nil
}
