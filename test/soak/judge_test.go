package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/test/server"
)

func TestOnlyWhatTheMachineExplainsIsRunAgain(t *testing.T) {
	busy := func(r *result) *result { r.Harness.LateMost = 200 * time.Millisecond; return r }
	wrong := func() *result {
		r := sound()
		r.Counters.Differences = []string{"x is 2, the log has 1 to 1"}
		return r
	}
	lost := errors.New("no candidate leads within a minute")
	for name, c := range map[string]struct {
		runs []any // a result or an error each
		want string
		used int
	}{
		"right":                              {[]any{sound()}, "", 1},
		"right on a busy machine":            {[]any{busy(sound())}, "", 1},
		"wrong":                              {[]any{wrong()}, "found\n\tetcd: counters: x is 2, the log has 1 to 1", 1},
		"wrong on a busy machine":            {[]any{busy(wrong()), sound()}, "", 2},
		"wrong twice, the second not busy":   {[]any{busy(wrong()), wrong()}, "found\n\tetcd: counters: x is 2, the log has 1 to 1", 2},
		"wrong each time on a busy machine":  {[]any{busy(wrong()), busy(wrong()), busy(wrong())}, "found\n\tetcd: counters: x is 2, the log has 1 to 1", 3},
		"it did not come to its end once":    {[]any{lost, sound()}, "", 2},
		"it did not come to its end, thrice": {[]any{lost, lost, lost}, "found\n\tetcd: no candidate leads within a minute", 3},
		"no server":                          {[]any{fmt.Errorf("%w: none", server.ErrMissing)}, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("LEADERSCOPE_ALL_SERVERS", "")
			used := 0
			err := options{repeat: 2}.judge(context.Background(), backends[:1], func(backend) (*result, error) {
				used++
				if err, failed := c.runs[used-1].(error); failed {
					return nil, err
				}
				return c.runs[used-1].(*result), nil
			})
			said := ""
			if err != nil {
				said = err.Error()
			}
			if said != c.want || used != c.used {
				t.Errorf("%q after %d runs, want %q after %d", said, used, c.want, c.used)
			}
		})
	}
}

func TestWhereServersAreRequiredAMissingOneIsAnError(t *testing.T) {
	t.Setenv("LEADERSCOPE_ALL_SERVERS", "1")
	err := options{repeat: 2}.judge(context.Background(), backends[:1], func(backend) (*result, error) { return nil, server.ErrMissing })
	if want := "found\n\tetcd: " + server.ErrMissing.Error(); err == nil || err.Error() != want {
		t.Errorf("%v, want %q", err, want)
	}
}

func TestAsManyElectorsRunAtOnceAsAsked(t *testing.T) {
	for _, parallel := range []int{1, 2, 6} {
		t.Run(fmt.Sprint(parallel), func(t *testing.T) {
			var mu sync.Mutex
			now, most := 0, 0
			full := make(chan struct{})
			err := options{parallel: parallel}.judge(context.Background(), backends, func(backend) (*result, error) {
				mu.Lock()
				now++
				if most = max(most, now); now == parallel && most == parallel {
					select {
					case <-full:
					default:
						close(full)
					}
				}
				mu.Unlock()
				<-full
				mu.Lock()
				now--
				mu.Unlock()
				return sound(), nil
			})
			if err != nil || most != parallel {
				t.Errorf("%v, %d at once, want %d", err, most, parallel)
			}
		})
	}
}

func TestABusyMachineIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*result)
		want   string
	}{
		"idle":                   {func(*result) {}, ""},
		"the referee at its end": {func(r *result) { r.Harness.LateMost = looksApart }, ""},
		"the referee was late":   {func(r *result) { r.Harness.LateMost = 120 * time.Millisecond }, "the referee was late by 120ms"},
		"two slow readings":      {func(r *result) { r.Total.LeftOut = 2 }, ""},
		"three slow readings":    {func(r *result) { r.Total.LeftOut = 3 }, "3 readings of 1003 took longer than 50ms"},
	} {
		t.Run(name, func(t *testing.T) {
			r := sound()
			c.change(r)
			if diff := cmp.Diff(c.want, r.starved()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
