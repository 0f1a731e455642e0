// Command soak runs three candidates of an elector on a real server, breaks
// things at random, and says how long leader_active was wrong:
//
//	soak -elector etcd -for 2m -seed 1 -out results
//
// A referee reads the backend's own record forty times a second. Writers of a
// register, gauges set by hand, and the candidates' own counts are compared
// beside it. With -page it writes a page from stored results instead.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/leaderscope/leaderscope/test/electors"
	"github.com/leaderscope/leaderscope/test/server"
)

// verbose passes on what candidates and servers say.
var verbose = os.Getenv("LEADERSCOPE_TALK") != ""

func main() {
	if text := os.Getenv(orderVariable); text != "" {
		var o order
		err := json.Unmarshal([]byte(text), &o)
		if err == nil {
			err = o.run()
		}
		if err != nil {
			fail(1, err)
		}
		return
	}
	var o options
	flag.StringVar(&o.elector, "elector", everyElector, "elector to run: all, or one of "+strings.Join(names(), ", "))
	flag.DurationVar(&o.length, "for", 2*time.Minute, "how long each elector runs")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the faults")
	flag.StringVar(&o.out, "out", "", "folder for a file of results per elector; none if empty")
	flag.StringVar(&o.only, "only", "", "faults whose name contains this; all if empty")
	flag.BoolVar(&o.seeded, "seeded", false, "put a fault into the product, several programs at once: a run must find each")
	flag.IntVar(&o.parallel, "parallel", 1, "how many electors, or programs with a fault, run at once")
	flag.IntVar(&o.repeat, "repeat", 0, "how often a run is repeated, alone, that found something while the machine was too busy")
	flag.StringVar(&o.record, "record", "", "folder for what was observed in each run; none if empty")
	flag.StringVar(&o.play, "play", "", "judge this file of -record, and run nothing")
	flag.StringVar(&o.page, "page", "", "write this page from the results in -out, and run nothing")
	flag.Parse()
	if !verbose {
		redis.SetLogger(nothing{}) // a server that is down is no news here
	}
	ctx, done := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer done()
	if flag.NArg() > 0 {
		fail(2, fmt.Errorf("unexpected argument %q", flag.Arg(0)))
	}
	if err := o.do(ctx); err != nil {
		fail(1, err)
	}
}

// nothing is a logger without output.
type nothing struct{}

func (nothing) Printf(context.Context, string, ...any) {}

func fail(code int, err error) {
	fmt.Fprintln(os.Stderr, "soak:", err)
	os.Exit(code)
}

// everyElector stands for all of them.
const everyElector = "all"

type options struct {
	elector, only, out, page string
	record, play             string
	seeded                   bool
	parallel, repeat         int
	length                   time.Duration
	seed                     uint64
}

func (o options) do(ctx context.Context) error {
	if o.page != "" {
		return writePage(o.out, o.page)
	}
	if o.play != "" {
		return play(o.play)
	}
	if o.seeded {
		return o.seedFaults(ctx, server.Root())
	}
	breaks := some(o.only)
	if len(breaks) == 0 {
		return fmt.Errorf("no fault has %q in its name; valid names: %q", o.only, kinds)
	}
	all := backends
	if o.elector != everyElector {
		b, err := find(o.elector)
		if err != nil {
			return err
		}
		all = []backend{b}
	}
	return o.judge(ctx, all, func(b backend) (*result, error) { return o.one(ctx, b, breaks) })
}

func (o options) one(ctx context.Context, b backend, breaks []kind) (*result, error) {
	say := func(format string, args ...any) { fmt.Printf(b.name+": "+format+"\n", args...) }
	say("seed %d, %v", o.seed, o.length)
	seen, err := run(ctx, b, plan(o.seed, o.length, electors.Lease, candidateCount, breaks), o.seed, o.length, say)
	if err != nil {
		return nil, err
	}
	seen.Harness.Together = o.parallel
	if o.record != "" {
		if err := os.MkdirAll(o.record, 0o755); err != nil {
			return nil, err
		}
		if err := seen.write(filepath.Join(o.record, fmt.Sprintf("%s-%d.json.gz", b.name, seen.Start.Unix()))); err != nil {
			return nil, err
		}
	}
	r := seen.result(b)
	r.print(os.Stdout)
	if o.out != "" {
		return r, r.write(o.out)
	}
	return r, nil
}

// play judges a run again.
func play(file string) error {
	seen, err := readRecording(file)
	if err != nil {
		return err
	}
	b, err := find(seen.Elector)
	if err != nil {
		return err
	}
	r := seen.result(b)
	r.print(os.Stdout)
	if found := r.wrong(b); len(found) > 0 {
		return errors.New("found\n\t" + strings.Join(found, "\n\t"))
	}
	return nil
}

func (r *result) write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, r.Elector+".json"), append(text, '\n'), 0o644)
}

// readResults reads the stored results, in the order of backends.
func readResults(dir string) (all []*result, err error) {
	for _, b := range backends {
		text, err := os.ReadFile(filepath.Join(dir, b.name+".json"))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		r := new(result)
		if err := json.Unmarshal(text, r); err != nil {
			return nil, fmt.Errorf("%s.json: %w", b.name, err)
		}
		all = append(all, r)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no results in %q: run soak with -out first", dir)
	}
	return slices.Clip(all), nil
}
