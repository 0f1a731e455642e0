package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/leaderscope/leaderscope/test/electors"
)

// applied is a fault that was there.
type applied struct {
	fault
	From, To time.Duration
	// Led says that it hit who led.
	Led bool
}

// hits reports whether a candidate was under the fault.
func (a applied) hits(candidate int) bool { return a.Kind.shared() || a.Candidate == candidate }

// awake is when a suspended process was continued: just before its fault was
// seen to be over.
func (a applied) awake() time.Duration { return a.To - 20*time.Millisecond }

// toxics are how a proxy breaks connections; %d is a third of the lease in
// milliseconds, which leaves a renewal its time.
var toxics = map[kind][]string{
	blackhole: {
		`{"name":"up","type":"timeout","stream":"upstream","attributes":{"timeout":0}}`,
		`{"name":"down","type":"timeout","stream":"downstream","attributes":{"timeout":0}}`,
	},
	oneWay: {`{"name":"down","type":"timeout","stream":"downstream","attributes":{"timeout":0}}`},
	delay:  {fmt.Sprintf(`{"name":"down","type":"latency","stream":"downstream","attributes":{"latency":%d}}`, (electors.Lease / 8).Milliseconds())},
}

// inject breaks something for as long as the fault says, and repairs it.
func (r *soak) inject(ctx context.Context, f fault) error {
	holder := r.referee.holder()
	target := r.candidates[f.Candidate]
	for _, p := range r.candidates {
		if f.Leader && p.lives[len(p.lives)-1].holder == holder {
			target = p
			f.Candidate = p.number
		}
	}
	a := applied{fault: f, From: onWall(r.start, time.Now()), Led: target.lives[len(target.lives)-1].holder == holder}
	r.applied = append(r.applied, a)
	err := r.breaks(ctx, f, target)
	r.applied[len(r.applied)-1].To = onWall(r.start, time.Now())
	if err != nil {
		return fmt.Errorf("%s: %w", f.Kind, err)
	}
	return nil
}

func (r *soak) breaks(ctx context.Context, f fault, p *process) error {
	switch f.Kind {
	case suspend:
		err := p.signal(syscall.SIGSTOP)
		sleep(ctx, f.For)
		return errors.Join(err, p.signal(syscall.SIGCONT))
	case kill:
		p.kill()
		sleep(ctx, f.For)
		return p.start()
	case stop:
		if err := p.quit(); err != nil {
			return err
		}
		sleep(ctx, f.For)
		return p.start()
	case reset:
		p.proxy.Stop()
		sleep(ctx, f.For)
		return p.proxy.Start()
	case restart:
		r.server.Down()
		r.referee.down(r.backend.bound)
		sleep(ctx, f.For)
		r.referee.down(false)
		return r.server.Up()
	case remove:
		return r.removes(ctx)
	}
	for _, t := range toxics[f.Kind] {
		if _, err := p.proxy.Toxics.AddToxicJson(strings.NewReader(t)); err != nil {
			return err
		}
	}
	sleep(ctx, f.For)
	p.proxy.Toxics.ResetToxics(context.Background())
	return nil
}

// removes deletes the record. That there is none is no error: the lock may be
// free at that moment.
func (r *soak) removes(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := r.backend.remove(ctx, r.server.Addresses()[0], r.lock); err != nil {
		r.say("the record could not be deleted: %v", err)
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
