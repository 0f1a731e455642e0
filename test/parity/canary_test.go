package parity

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/leaderscope/leaderscope/exporter/otelmetric/otelsetup"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/redact"
)

// canary is a lock name that no other text contains.
const canary = "canary-7f3a/alice@leak.example"

var canaryKey = []byte("0123456789abcdef0123456789abcdef")

// traces are the forms in which the canary or the key would get out.
func traces() map[string]string {
	digest := sha256.Sum256([]byte(canary))
	return map[string]string{
		"the name":                  canary,
		"its tell-tale part":        "leak.example",
		"the name in a URL":         url.QueryEscape(canary),
		"the name in hex":           hex.EncodeToString([]byte(canary)),
		"the name in base64":        base64.StdEncoding.EncodeToString([]byte(canary))[:24],
		"the beginning of its SHA2": hex.EncodeToString(digest[:4]),
		"the key":                   string(canaryKey),
	}
}

// policies are those under which names must stay inside; nil is the default.
func policies() map[string]*redact.Policy {
	hash := func(rules ...redact.Rule) *redact.Policy { return redact.Hash(canaryKey, "k1", rules...) }
	family := redact.Template("canary-{id}")
	return map[string]*redact.Policy{
		"by default":               nil,
		"constant, a family":       redact.Constant(family),
		"hash":                     hash(),
		"hash, in rotation":        hash().WithSecondary([]byte("another key of thirty-two bytes!"), "k2"),
		"hash, a family beside it": hash(family.Hashed()),
		"raw, but for this family": redact.Raw(family.Constant()),
	}
}

func TestC23NoLockNameIsAmongTheBytesOfOTLP(t *testing.T) {
	for name, policy := range policies() {
		t.Run(name, func(t *testing.T) {
			sent, label := pushed(t, policy)
			if !bytes.Contains(sent, []byte(label)) {
				t.Errorf("no series of %s among %d bytes, so nothing is proved", label, len(sent))
			}
			for what, trace := range traces() {
				if i := bytes.Index(sent, []byte(trace)); i >= 0 {
					t.Errorf("%s is there: %q", what, sent[max(i-80, 0):min(i+len(trace)+20, len(sent))])
				}
			}
		})
	}
}

// The search must find what it looks for under the one policy that lets it out.
func TestTheBytesOfOTLPHaveTheNameWhereItIsLetOut(t *testing.T) {
	if sent, _ := pushed(t, redact.Raw()); !bytes.Contains(sent, []byte(canary)) {
		t.Errorf("no lock name among %d bytes", len(sent))
	}
}

// pushed returns all bytes of the requests that tell of the canary's lock,
// after wins, failures and losses within a sampled span, and its label.
func pushed(t *testing.T, policy *redact.Policy) (sent []byte, label string) {
	t.Helper()
	endpoint, requests := recorder(t)
	tracer := trace.NewTracerProvider()
	opts := []instrument.Option{instrument.WithTracerProvider(tracer)}
	if policy != nil {
		opts = append(opts, instrument.WithRedactor(policy))
	}
	m, err := instrument.New(opts...)
	if err != nil {
		t.Fatal(err)
	}
	push, err := otlpmetrichttp.New(t.Context(), otlpmetrichttp.WithEndpoint(endpoint), otlpmetrichttp.WithInsecure())
	if err != nil {
		t.Fatal(err)
	}
	p, err := otelsetup.Setup(m, otelsetup.WithPush(push, time.Hour), otelsetup.WithExemplars())
	if err != nil {
		t.Fatal(err)
	}
	ctx, span := tracer.Tracer("test").Start(named(t), "request")
	lock := m.Named(canary, instrument.LeaseDuration(time.Minute), instrument.ExpectEvery(time.Minute))
	provoke(ctx, lock)
	span.End()
	if err := p.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	sent = requests()
	if id := span.SpanContext().TraceID(); !bytes.Contains(sent, id[:]) {
		t.Error("no exemplars, so nothing is proved of them")
	}
	return sent, lock.Label()
}

// provoke drives a lock with errors that are full of its name.
func provoke(ctx context.Context, lock *instrument.Election) {
	leaky := errors.New("SET " + canary + ": connection refused")
	for _, err := range []error{leaky, instrument.ErrContended} {
		_, _ = lock.Acquire(ctx, electtest.Fails(err))
	}
	renewed := instrument.RenewWith(func(context.Context) error { return leaky })
	for _, end := range []error{nil, leaky} {
		_ = lock.Run(ctx, electtest.Wins(instrument.NewLease(nil, renewed)), func(ctx context.Context, term *instrument.Term) error {
			_ = term.Renew(ctx)
			return end
		})
	}
	lock.ObserveUnknown(leaky)
	lock.ObserveLeading(instrument.Leadership{Token: 7, Fenced: true})
	lock.ObserveUnknown(leaky)
	lock.ObserveNotLeading(leaky)
}

// named is a context that carries the name in its baggage, as applications do.
func named(t *testing.T) context.Context {
	t.Helper()
	member, err := baggage.NewMemberRaw("lock", canary)
	if err != nil {
		t.Fatal(err)
	}
	b, err := baggage.New(member)
	if err != nil {
		t.Fatal(err)
	}
	return baggage.ContextWithBaggage(t.Context(), b)
}

// recorder is an OTLP endpoint that keeps every byte of its requests, with
// their addresses and headers.
func recorder(t *testing.T) (endpoint string, requests func() []byte) {
	t.Helper()
	var mu sync.Mutex
	var all bytes.Buffer
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if coding := r.Header.Get("Content-Encoding"); coding != "" {
			t.Errorf("the body is packed (%s), so a search proves nothing", coding)
		}
		mu.Lock()
		defer mu.Unlock()
		all.WriteString(r.URL.String() + "\n")
		_ = r.Header.Write(&all)
		all.Write(body)
	}))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://"), func() []byte {
		mu.Lock()
		defer mu.Unlock()
		return bytes.Clone(all.Bytes())
	}
}
