// Package canary holds the test that no lock name leaves the process: it
// drives every outcome under a name that occurs nowhere else, with electors
// whose errors and panics are full of it, and looks for it in all that comes
// out. What comes back to the caller of the elector is the caller's own.
package canary

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/redact"
)

// canary is a lock name that no other text contains.
const canary = "canary-7f3a/alice@leak.example"

var (
	key    = []byte("0123456789abcdef0123456789abcdef")
	newKey = []byte("another key of thirty-two bytes!")
)

// traces are the forms in which the canary, or a digest that anybody can make
// of it, or a key, would get out.
func traces() map[string]string {
	md, s1, s2 := md5.Sum([]byte(canary)), sha1.Sum([]byte(canary)), sha256.Sum256([]byte(canary))
	return map[string]string{
		"the name":                  canary,
		"its tell-tale part":        "leak.example",
		"the name in a URL":         url.QueryEscape(canary),
		"the name in hex":           hex.EncodeToString([]byte(canary)),
		"the name in base64":        base64.StdEncoding.EncodeToString([]byte(canary))[:24],
		"the beginning of its MD5":  hex.EncodeToString(md[:4]),
		"the beginning of its SHA1": hex.EncodeToString(s1[:4]),
		"the beginning of its SHA2": hex.EncodeToString(s2[:4]),
		"the key":                   string(key),
		"the key in hex":            hex.EncodeToString(key),
		"the new key":               string(newKey),
	}
}

// modes are all policies under which names must stay inside.
func modes() map[string][]instrument.Option {
	hashed := func(rules ...redact.Rule) *redact.Policy { return redact.Hash(key, "k1", rules...) }
	with := func(r instrument.Redactor, more ...instrument.Option) []instrument.Option {
		return append(more, instrument.WithRedactor(r))
	}
	return map[string][]instrument.Option{
		"by default":                   nil,
		"constant, a family":           with(redact.Constant(redact.Template("canary-{id}"))),
		"constant, other names let by": with(redact.Constant(redact.Exact("nightly"))),
		"hash":                         with(hashed()),
		"hash, constants let by":       with(hashed(redact.Literals())),
		"hash, in rotation":            with(hashed().WithSecondary(newKey, "k2")),
		"hash, a family":               with(hashed(redact.Template("canary-{id}"))),
		"hash, a family beside it":     with(hashed(redact.Template("canary-{id}").Hashed())),
		"raw, but for this family":     with(redact.Raw(redact.Template("canary-{id}").Constant())),
		"beyond the cap":               with(redact.Raw(redact.Template("canary-{id}").Constant(), redact.Exact("first")), instrument.WithMaxLabels(1)),
		"hash, beyond the cap":         with(hashed(), instrument.WithMaxLabels(1)),
		"a collision":                  with(oneLabel{}),
		"a redactor that panics":       with(panicking{}),
	}
}

// oneLabel takes all names for one.
type oneLabel struct{}

func (oneLabel) Label(string) redact.Label { return redact.Label{Text: "k1:0000000000000000"} }
func (oneLabel) Info() redact.Info         { return redact.Info{Policy: redact.PolicyHash} }

// panicking shows what it was asked for.
type panicking struct{}

func (panicking) Label(name string) redact.Label { panic(name) }
func (panicking) Info() redact.Info              { panic(canary) }

func TestC23NoLockNameLeavesTheProcess(t *testing.T) {
	for mode, opts := range modes() {
		t.Run(mode, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newExits(t, opts)
				provoke(t, e)
				synctest.Wait() // for the logs
				search(t, e.collect(t))
			})
		})
	}
}

// The search itself must find what it looks for: under the one mode that lets
// names out, the canary is at each exit that carries labels.
func TestTheSearchFindsTheNameWhereItIsLetOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExits(t, []instrument.Option{instrument.WithRedactor(redact.Raw())})
		provoke(t, e)
		synctest.Wait()
		outputs := e.collect(t)
		for _, exit := range []string{
			"HTTP page, text", "HTTP page, OpenMetrics", "HTTP page, protobuf", "HTTP page, protobuf with native histograms",
			"status page", "status page, one lock", "status, JSON", "status, JSON, one lock", "readiness",
			"OpenTelemetry metrics", "spans", "logs, text", "logs, JSON", "printed handles", "logged handles",
		} {
			if !bytes.Contains(outputs[exit], []byte(canary)) {
				t.Errorf("%s has no lock name; is it still there? %d bytes", exit, len(outputs[exit]))
			}
		}
	})
}

// search looks through what came out, and through its names.
func search(t *testing.T, outputs map[string][]byte) {
	t.Helper()
	for _, exit := range slices.Sorted(maps.Keys(outputs)) {
		text := string(outputs[exit])
		if len(text) == 0 {
			t.Errorf("%s: nothing came out, so nothing is proved", exit)
		}
		for what, trace := range traces() {
			if i := strings.Index(text, trace); i >= 0 {
				t.Errorf("%s shows %s: %q", exit, what, text[max(i-80, 0):min(i+len(trace)+20, len(text))])
			}
		}
	}
}
