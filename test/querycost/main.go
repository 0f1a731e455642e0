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
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/leaderscope/leaderscope/alerts"
	"github.com/leaderscope/leaderscope/dashboards"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// reference is the query that others are measured against.
const reference = "max by (lock_name) (leader_active)"

// How many times the reference a query may take, on the replicas' own series and on
// recorded ones.
const (
	limit         = 4.0
	recordedLimit = 1.5
)

func main() {
	log.SetFlags(0)
	var c command
	flag.StringVar(&c.prometheus, "prometheus", "prometheus", "the `binary` of the server that answers the panels")
	flag.IntVar(&c.locks, "locks", 1000, "locks of the fleet that the panels show")
	flag.IntVar(&c.replicas, "replicas", 3, "replicas of each fleet")
	flag.DurationVar(&c.span, "span", 3*time.Hour, "time range that the panels show")
	flag.IntVar(&c.times, "times", 7, "how often each query is asked; the fastest counts")
	flag.StringVar(&c.groups, "groups", "100,1000,10000", "locks of the fleets that the rules judge")
	out := flag.String("out", "", "`file` to write; empty: standard output")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var report bytes.Buffer
	if err := c.run(ctx, &report); err != nil {
		log.Fatal("querycost: ", err)
	}
	if *out == "" {
		fmt.Print(report.String())
		return
	}
	if err := os.WriteFile(*out, report.Bytes(), 0o644); err != nil {
		log.Fatal("querycost: ", err)
	}
}

type command struct {
	prometheus, groups     string
	locks, replicas, times int
	span                   time.Duration
}

func (c command) run(ctx context.Context, out io.Writer) error {
	panels, err := c.panels(ctx)
	if err != nil {
		return err
	}
	var groups []groupCost
	for _, text := range strings.Split(c.groups, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 1 {
			return fmt.Errorf("-groups: %q is not a number of locks; write them as 100,1000", text)
		}
		cost, err := measureGroups(ctx, fleet{locks: n, replicas: c.replicas, span: time.Hour}, 3)
		if err != nil {
			return err
		}
		log.Printf("%d locks: alerts %v, recording rules %v", n, cost.alerts(), cost.recording)
		groups = append(groups, cost)
	}
	memory, err := c.memory(ctx)
	if err != nil {
		return err
	}
	return c.report(out, panels, groups, memory)
}

// panelCosts are the measurements of one server.
type panelCosts struct {
	version                string
	series                 int
	instant, ranged        time.Duration
	direct, recorded, lock []panelCost
	// first is what all queries of the overview's first row take together.
	firstDirect, firstRecorded time.Duration
}

// panelCost is the heaviest query of a panel.
type panelCost struct {
	question
	took  time.Duration
	ratio float64
}

func (c command) panels(ctx context.Context) (costs panelCosts, err error) {
	dir, err := os.MkdirTemp("", "querycost-")
	if err != nil {
		return costs, err
	}
	defer os.RemoveAll(dir)
	v := view{end: time.Now().Truncate(scrape), span: c.span}
	f := fleet{locks: c.locks, replicas: c.replicas, span: c.span, reads: func(*catalog.Metric) bool { return true }}
	if costs.series, err = f.write(ctx, dir, v.end); err != nil {
		return costs, err
	}
	log.Printf("%d series of %d locks", costs.series, c.locks)
	rules := alerts.Default()
	rules.Recording = true
	recordings, err := alerts.Recordings(rules)
	if err != nil {
		return costs, err
	}
	if err := record(ctx, dir, recordings, v.end, c.span); err != nil {
		return costs, err
	}
	log.Print("recorded")
	s, err := startServer(ctx, c.prometheus, dir, "global: {}\n")
	if err != nil {
		return costs, err
	}
	defer s.stop()
	costs.version = s.version
	if costs.instant, _, err = s.fastest(ctx, v, c.times, question{expr: reference, instant: true}); err != nil {
		return costs, err
	}
	if costs.ranged, _, err = s.fastest(ctx, v, c.times, question{expr: reference}); err != nil {
		return costs, err
	}
	for _, b := range []struct {
		into  *[]panelCost
		first *time.Duration
		build func(dashboards.Config) ([]byte, error)
		rec   bool
		lock  string
	}{
		{&costs.direct, &costs.firstDirect, dashboards.Overview, false, ""},
		{&costs.recorded, &costs.firstRecorded, dashboards.Overview, true, ""},
		{&costs.lock, new(time.Duration), dashboards.Lock, false, "tenant-1/orders"},
	} {
		questions, err := board(b.build, b.rec)
		if err != nil {
			return costs, err
		}
		if b.lock != "" {
			questions = ofLock(questions, b.lock)
		}
		if *b.into, *b.first, err = s.heaviest(ctx, v, c.times, questions); err != nil {
			return costs, err
		}
		log.Printf("%d panels measured", len(*b.into))
		for _, cost := range *b.into {
			if (b.rec && cost.ratio > recordedLimit) || cost.ratio > limit {
				log.Printf("  %s, query %s: %.1f times the reference", cost.panel, cost.ref, cost.ratio)
			}
		}
	}
	return costs, nil
}

// heaviest asks all questions and keeps the one of each panel that takes the
// most times the reference. first is the sum of those of the first row.
func (s *server) heaviest(ctx context.Context, v view, times int, questions []question) (all []panelCost, first time.Duration, err error) {
	at := map[string]int{}
	for _, q := range questions {
		took, reference, err := s.fastest(ctx, v, times, q)
		if err != nil {
			return nil, 0, err
		}
		if q.first {
			first += took
		}
		cost := panelCost{question: q, took: took, ratio: took.Seconds() / reference.Seconds()}
		i, ok := at[q.panel]
		switch {
		case !ok:
			at[q.panel] = len(all)
			all = append(all, cost)
		case cost.ratio > all[i].ratio:
			all[i] = cost
		}
	}
	return all, first, nil
}
