package fence_test

import (
	"context"
	"testing"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/fence"
)

func TestATokenIsExactlyOneNumberInDecimalDigits(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []string
		token  uint64
		ok     bool
	}{
		{"none", nil, 0, false},
		{"an empty one", []string{""}, 0, false},
		{"zero", []string{"0"}, 0, true},
		{"beyond 2^53", []string{"9007199254740993"}, 9007199254740993, true},
		{"the last number", []string{"18446744073709551615"}, 18446744073709551615, true},
		{"one beyond", []string{"18446744073709551616"}, 0, false},
		{"two", []string{"3", "4"}, 0, false},
		{"two in one", []string{"3, 4"}, 0, false},
		{"a sign", []string{"+3"}, 0, false},
		{"another sign", []string{"-3"}, 0, false},
		{"a fraction", []string{"3.0"}, 0, false},
		{"hexadecimal", []string{"0x3"}, 0, false},
		{"separators", []string{"1_000"}, 0, false},
		{"blanks", []string{" 3"}, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			token, ok := fence.Parse(c.values)
			if ok != c.ok || ok && token != c.token {
				t.Errorf("%d, %v", token, ok)
			}
			if ok && fence.Format(token) != c.values[0] {
				t.Errorf("written again it is %q", fence.Format(token))
			}
		})
	}
}

func TestAContextCarriesTheTokenOfATerm(t *testing.T) {
	m, err := instrument.New()
	if err != nil {
		t.Fatal(err)
	}
	win := func(opts ...instrument.LeaseOption) *instrument.Term {
		term, err := m.Election("orders").Acquire(t.Context(), electtest.Wins(instrument.NewLease(nil, opts...)))
		if err != nil {
			t.Fatal(err)
		}
		return term
	}
	var none context.Context
	for _, c := range []struct {
		name  string
		ctx   context.Context
		token uint64
		ok    bool
	}{
		{"a term with a token", fence.WithTerm(t.Context(), win(instrument.Token(7))), 7, true},
		{"a term with the token 0", fence.WithTerm(t.Context(), win(instrument.Token(0))), 0, true},
		{"a term without", fence.WithTerm(t.Context(), win()), 0, false},
		{"no term", fence.WithTerm(t.Context(), nil), 0, false},
		{"a token", fence.WithToken(t.Context(), 9), 9, true},
		{"no context", nil, 0, false},
		{"a token without a context", fence.WithToken(none, 9), 9, true},
		{"a term without a context", fence.WithTerm(none, win(instrument.Token(7))), 7, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if token, ok := fence.TokenFrom(c.ctx); token != c.token || ok != c.ok {
				t.Errorf("%d, %v", token, ok)
			}
		})
	}
	if fence.WithTerm(t.Context(), nil) != t.Context() {
		t.Error("without a term the context is another")
	}
}

// A process that checks tokens may have one of its own, from its own term.
func TestACallCarriesTheTokenOfItsCallerOrNone(t *testing.T) {
	own := fence.WithToken(t.Context(), 9)
	for _, c := range []struct {
		name   string
		ctx    context.Context
		values []string
		token  uint64
		ok     bool
	}{
		{"with a token", t.Context(), []string{"3"}, 3, true},
		{"without", t.Context(), nil, 0, false},
		{"to a process with a token", own, []string{"3"}, 3, true},
		{"without, to a process with a token", own, nil, 0, false},
		{"with one that cannot be read, to a process with a token", own, []string{"-3"}, 0, false},
		{"with two, to a process with a token", own, []string{"9", "9"}, 0, false},
		{"no context", nil, []string{"3"}, 3, true},
		{"no context and no token", nil, nil, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if token, ok := fence.TokenFrom(fence.Received(c.ctx, c.values)); token != c.token || ok != c.ok {
				t.Errorf("%d, %v", token, ok)
			}
		})
	}
	if token, ok := fence.TokenFrom(own); token != 9 || !ok {
		t.Error("the process lost its own")
	}
}
