package libraries

import (
	"testing"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

var of = electtest.Of

// election is a handle with a middleware of its own.
func election(t *testing.T, options ...instrument.ElectionOption) (*instrument.Election, func() electtest.Series) {
	t.Helper()
	m, err := instrument.New()
	if err != nil {
		t.Fatal(err)
	}
	return m.Election("lock", options...), func() electtest.Series { return electtest.Read(m, "lock") }
}

func reason(r instrument.Reason) string { return of(catalog.NotAcquired, r.String()) }
