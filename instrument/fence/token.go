package fence

import (
	"context"
	"strconv"

	"github.com/leaderscope/leaderscope/instrument"
)

// Header carries a token over HTTP, in decimal digits. lockd uses the same
// name.
const Header = "X-Fencing-Token"

// MetadataKey carries a token in gRPC metadata, which is lower case.
const MetadataKey = "x-fencing-token"

type tokenKey struct{}

// WithToken returns a context that carries a token, for calls made under it.
func WithToken(ctx context.Context, token uint64) context.Context {
	if ctx == nil {
		ctx = context.Background()
	}
	return context.WithValue(ctx, tokenKey{}, token)
}

// WithTerm returns a context that carries the token of the term. Without a
// token, or with a nil term, it returns ctx unchanged: the store then receives a
// write without a token.
func WithTerm(ctx context.Context, t *instrument.Term) context.Context {
	token, ok := t.FencingToken()
	if !ok {
		return ctx
	}
	return WithToken(ctx, token)
}

// TokenFrom is the token that the context carries; ok is false without one.
func TokenFrom(ctx context.Context) (token uint64, ok bool) {
	if ctx == nil {
		return 0, false
	}
	token, ok = ctx.Value(tokenKey{}).(uint64)
	return token, ok
}

// Received returns a context for a call that came with these values of a header
// or of a metadata key. It carries their token, as Parse reads it, and without
// one it carries none: a token that ctx had before is of the process that was
// called, and must not stand in for that of the caller.
func Received(ctx context.Context, values []string) context.Context {
	token, ok := Parse(values)
	if ctx = WithToken(ctx, token); !ok {
		return context.WithValue(ctx, tokenKey{}, nil)
	}
	return ctx
}

// Format writes a token as headers and metadata carry it.
func Format(token uint64) string { return strconv.FormatUint(token, 10) }

// Parse parses the values of a header or of a metadata key: exactly one, in
// decimal digits. For any other values ok is false.
func Parse(values []string) (token uint64, ok bool) {
	if len(values) != 1 || len(values[0]) == 0 || values[0][0] == '+' {
		return 0, false
	}
	token, err := strconv.ParseUint(values[0], 10, 64)
	return token, err == nil
}
