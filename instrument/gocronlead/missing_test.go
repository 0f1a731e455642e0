package gocronlead_test

import (
	"strings"
	"testing"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/gocronlead"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
)

// gocron asks in goroutines of its own, where a panic ends the program.
func TestWhatIsMissingIsAnErrorOfTheQuestion(t *testing.T) {
	m := expect.Middleware(t)
	lock := func(k *gocronlead.JobLocker) func() error {
		return func() error { _, err := k.Lock(t.Context(), "report"); return err }
	}
	none := func(string) instrument.Acquirer { return nil }
	for name, ask := range map[string]func() error{
		"no locker":                      lock(gocronlead.Locker(m, nil)),
		"no locker, without observation": lock(gocronlead.Locker(nil, nil)),
		"no function":                    lock(gocronlead.Locker(m, gocronlead.NewLocker(nil))),
		"a function without an acquirer": lock(gocronlead.Locker(m, gocronlead.NewLocker(none))),
		"the same, without a scheduler that is observed": func() error {
			_, err := gocronlead.NewLocker(none).Lock(t.Context(), "report")
			return err
		},
		"no elector": func() error {
			return gocronlead.Elector(m.Election("scheduler"), nil).IsLeader(t.Context())
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := ask(); err == nil || !strings.Contains(err.Error(), "leaderscope: gocron: the ") || !strings.Contains(err.Error(), ": pass ") {
				t.Errorf("got %v, want an error that says what is missing", err)
			}
		})
	}
}
