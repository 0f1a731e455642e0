package main

import (
	"context"
	"errors"
	"fmt"
	"go/token"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// config says what to mutate and how much of it.
type config struct {
	root        string
	rooms       []string // folders whose packages are mutated
	pattern     string   // limits the packages; empty for all
	sample      int      // mutants per package; negative for all of them
	seed        int64    // chooses the sample
	jobs        int      // mutants at a time
	own         bool     // only a package's own tests judge, where it has some
	budget      time.Duration
	slack       time.Duration // added to every time-out
	faults      []fault
	equivalents []equivalent
	progress    io.Writer
}

// selection is what was chosen from one package.
type selection struct {
	pkg          *pkg
	made         []*mutant // all of them, in the order of the source
	chosen       []*mutant
	faults       []*mutant
	equivalents  int       // that the sample met and left out
	notCompiling []verdict // likewise
}

// campaign is one run of the tool.
type campaign struct {
	config
	workspace  *workspace
	selections []*selection
	runner     *runner
	judges     map[*pkg]*judge
	verdicts   []verdict
	remaining  int // mutants that the budget left out
}

// prepare makes the mutants and chooses among them. Every fault must have its
// anchor and every equivalent its mutant.
func prepare(ctx context.Context, c config) (*campaign, error) {
	w, err := openWorkspace(ctx, c.root, c.rooms)
	if err != nil {
		return nil, err
	}
	targets := w.targets(c.rooms, c.pattern)
	if len(targets) == 0 {
		return nil, fmt.Errorf("no package matches %q", c.pattern)
	}
	run := &campaign{config: c, workspace: w, judges: map[*pkg]*judge{}}
	packages, err := parseAll(ctx, targets)
	if err != nil {
		return nil, err
	}
	err = run.checkPackages()
	for _, s := range packages {
		chosen, e := c.choose(s)
		err = errors.Join(err, e)
		run.selections = append(run.selections, chosen)
	}
	return run, err
}

func parseAll(ctx context.Context, targets []*pkg) (all []*syntax, err error) {
	fset := token.NewFileSet()
	byModule := map[string][]*pkg{}
	for _, p := range targets {
		byModule[p.module] = append(byModule[p.module], p)
	}
	for module, packages := range byModule {
		imp, err := typesOf(ctx, fset, module, packages)
		if err != nil {
			return nil, err
		}
		for _, p := range packages {
			s, err := parse(p, fset, imp)
			if err != nil {
				return nil, err
			}
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b *syntax) int { return strings.Compare(a.rel, b.rel) })
	return all, nil
}

// checkPackages finds the faults and equivalents of packages that do not
// exist, whichever packages were asked for.
func (c *campaign) checkPackages() (err error) {
	var known []string
	for _, p := range c.workspace.targets(c.rooms, "") {
		known = append(known, p.rel)
	}
	for _, f := range c.faults {
		if !slices.Contains(known, f.folder) {
			err = errors.Join(err, fmt.Errorf("fault %q: no package %s; valid packages: %v", f.what, f.folder, known))
		}
	}
	for _, e := range c.equivalents {
		if !slices.Contains(known, e.folder) {
			err = errors.Join(err, fmt.Errorf("%v: no package %s; valid packages: %v", e, e.folder, known))
		}
	}
	return err
}

// choose takes the sample of one package.
func (c config) choose(s *syntax) (*selection, error) {
	sel := &selection{pkg: s.pkg, made: s.mutants()}
	var err error
	for _, f := range c.faults {
		if f.folder != s.rel {
			continue
		}
		m, e := f.mutant(s)
		if e != nil {
			err = errors.Join(err, fmt.Errorf("fault %q: %w", f.what, e))
			continue
		}
		sel.faults = append(sel.faults, m)
	}
	var named []equivalent
	for _, e := range c.equivalents {
		if e.folder == s.rel {
			named = append(named, e)
		}
	}
	equal, e := equivalentsAmong(named, sel.made)
	if err = errors.Join(err, e); err != nil {
		return nil, err
	}
	shuffled := slices.Clone(sel.made)
	shuffle(shuffled, c.seed)
	for _, m := range shuffled {
		if len(sel.chosen) == c.sample {
			break
		}
		if equal[m] {
			sel.equivalents++
		} else if err := s.compiles(m); err != nil {
			sel.notCompiling = append(sel.notCompiling, verdict{m, notCompiling, err.Error()})
		} else {
			sel.chosen = append(sel.chosen, m)
		}
	}
	return sel, nil
}

// errUnclean is the reason of a campaign whose tests fail without a mutant.
var errUnclean = errors.New("the clean run failed; fix the tests first")

// run judges what was chosen, until the budget is used up.
func (c *campaign) run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "mutation")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c.runner = &runner{dir: dir, slack: c.slack, buildJobs: buildJobs(c.jobs)}
	started := time.Now()
	if err := c.clean(ctx); err != nil {
		return err
	}
	queue := c.queue()
	fmt.Fprintf(c.progress, "clean run: %d packages judge, %v\n", len(c.judges), time.Since(started).Round(time.Second))
	judging := time.Now()
	var mu sync.Mutex
	err = each(ctx, c.jobs, queue, func(ctx context.Context, m *mutant) error {
		if c.budget > 0 && time.Since(started) > c.budget {
			mu.Lock()
			defer mu.Unlock()
			c.remaining++
			return nil
		}
		v, err := c.runner.try(ctx, m, c.judgesOf(m.pkg))
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		c.verdicts = append(c.verdicts, v)
		if v.fate != killed {
			fmt.Fprintf(c.progress, "[%d of %d] %v\n", len(c.verdicts), len(queue), v)
		}
		return nil
	})
	took := time.Since(judging)
	fmt.Fprintf(c.progress, "%d mutants in %v: %.1f a minute\n", len(c.verdicts), took.Round(time.Second), float64(len(c.verdicts))/took.Minutes())
	return err
}

// clean runs every package that will judge without a mutant.
func (c *campaign) clean(ctx context.Context) error {
	var judges []*pkg
	covered := map[*pkg][]string{}
	for _, s := range c.selections {
		if len(s.chosen)+len(s.faults) == 0 {
			continue
		}
		for _, p := range c.judgesAmong(s.pkg) {
			if covered[p] == nil {
				judges = append(judges, p)
			}
			covered[p] = append(covered[p], s.pkg.path)
		}
	}
	var mu sync.Mutex
	err := each(ctx, c.jobs, judges, func(ctx context.Context, p *pkg) error {
		j, err := c.runner.clean(ctx, p, covered[p])
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		c.judges[p] = j
		if j.reached == nil {
			fmt.Fprintf(c.progress, "%s fails when built with coverage (%s), so it judges every mutant it links\n", p.rel, j.blind)
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("%w\n%w", errUnclean, err)
	}
	return err
}

// judgesAmong are the packages that judge a package, its own first.
func (c *campaign) judgesAmong(p *pkg) []*pkg {
	judges := c.workspace.judges(p)
	if c.own && p.tested {
		return judges[:1]
	}
	return judges
}

// judgesOf are in the order in which they judge: the package's own tests, then
// the cheapest.
func (c *campaign) judgesOf(p *pkg) (judges []*judge) {
	for _, candidate := range c.judgesAmong(p) {
		judges = append(judges, c.judges[candidate])
	}
	slices.SortStableFunc(judges, func(a, b *judge) int {
		switch {
		case a.pkg == p:
			return -1
		case b.pkg == p:
			return 1
		}
		return int(a.cost - b.cost)
	})
	return judges
}

// queue has the hand-written faults first, then one mutant of each package
// after another, so that a budget leaves out as many of each.
func (c *campaign) queue() (queue []*mutant) {
	longest := 0
	for _, s := range c.selections {
		queue = append(queue, s.faults...)
		longest = max(longest, len(s.chosen))
	}
	for i := range longest {
		for _, s := range c.selections {
			if i < len(s.chosen) {
				queue = append(queue, s.chosen[i])
			}
		}
	}
	return queue
}

// each calls do for every item, some at a time, and stops at the first error.
func each[T any](ctx context.Context, jobs int, items []T, do func(context.Context, T) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	next := make(chan T)
	var workers sync.WaitGroup
	for range jobs {
		workers.Go(func() {
			for item := range next {
				if err := do(ctx, item); err != nil {
					stop(err)
				}
			}
		})
	}
	for _, item := range items {
		select {
		case next <- item:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(next)
	workers.Wait()
	return context.Cause(ctx)
}
