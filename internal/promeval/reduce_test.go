package promeval

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// What the store leaves out changes no answer: each expression that a grammar makes,
// over metrics of which some exist, has the values that the engine finds without help.
func TestReducedExpressionsHaveTheSameValues(t *testing.T) {
	ctx := context.Background()
	s, err := Load([]Series{
		{Selector: `a{l="1",m="x"}`, Values: "1+1x20"},
		{Selector: `a{l="2",m="x"}`, Values: "0x5 stale _x3 2x11"},
		{Selector: `b{l="1",m="y"}`, Values: "_x4 3-1x16"},
		{Selector: `c{l="3",m="y"}`, Values: "5x20"},
	}, time.Minute, V3)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(5, 7))
	shorter, empty, found := 0, 0, 0
	for range 4000 {
		expr := madeUp(random, 4)
		want, err := answered(ctx, s, expr)
		if err != nil {
			continue // many-to-many matching
		}
		got, err := s.Values(ctx, expr, 20*time.Minute, time.Minute)
		if err != nil {
			t.Fatalf("%s: %v", expr, err)
		}
		if got.String() != want {
			t.Errorf("%s\nreduced to %q\nhas\n%s\nand without the reduction\n%s", expr, s.reduced(expr), got, want)
		}
		switch reduced := s.reduced(expr); {
		case reduced == "":
			empty++
		case len(reduced) < len(expr)/2:
			shorter++
		}
		if want != "" {
			found++
		}
	}
	if shorter < 100 || empty < 100 || found < 1000 {
		t.Errorf("%d expressions became shorter, %d empty, %d had values: the grammar no longer makes what matters", shorter, empty, found)
	}
}

// answered asks the engine for the whole expression.
func answered(ctx context.Context, s *Store, expr string) (string, error) {
	q, err := s.engine.NewRangeQuery(ctx, s, nil, expr, epoch, epoch.Add(20*time.Minute), time.Minute)
	if err != nil {
		return "", err
	}
	defer q.Close()
	m, err := q.Exec(ctx).Matrix()
	return m.String(), err
}

// madeUp is an expression of a depth whose metrics d and e have no series, nor has
// a with another label.
func madeUp(random *rand.Rand, depth int) string {
	one := func(of ...string) string { return of[random.IntN(len(of))] }
	metric := one("a", "b", "c", "d", "e", `a{l="2"}`, `a{l="9"}`, `{__name__=~"b|e"}`, "a offset 3m")
	if depth == 0 {
		return metric
	}
	inner := func() string { return madeUp(random, depth-1) }
	ranged := func() string {
		if random.IntN(2) == 0 && !strings.Contains(metric, "offset") {
			return metric + "[5m]"
		}
		return "(" + inner() + ")[5m:1m]"
	}
	switch random.IntN(9) {
	case 0:
		return metric
	case 1:
		return fmt.Sprintf("%s by (%s) (%s)", one("sum", "max", "count", "group"), one("l", "m", "l, m"), inner())
	case 2:
		return fmt.Sprintf("%s(%s)", one("last_over_time", "increase", "absent_over_time", "count_over_time"), ranged())
	case 3:
		return fmt.Sprintf("%s(%s)", one("absent", "timestamp", "-", "abs"), inner())
	case 4:
		return fmt.Sprintf("(%s) %s %s", inner(), one(">", "== bool", "+", "/"), one("1", "time()", "scalar("+inner()+")"))
	case 5:
		return fmt.Sprintf("(%s) %s (%s)", inner(), one("+", ">", "< bool", "/ on (l)", "* on () group_left ()", "- ignoring (m)"), inner())
	case 6:
		return fmt.Sprintf(`label_replace(%s, "n", "v", "", "")`, inner())
	default:
		return fmt.Sprintf("(%s) %s (%s) %s (%s)", inner(), one("and", "or", "unless"), inner(), one("and on (l)", "or", "unless on (m)", "or on ()"), inner())
	}
}
