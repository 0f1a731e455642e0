package redact

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func hashed(t *testing.T, key []byte, id string, rules ...Rule) *Policy {
	t.Helper()
	return usable(t, Hash(key, id, rules...))
}

func rotated(t *testing.T, p *Policy) *Policy {
	t.Helper()
	return usable(t, p.WithSecondary([]byte(otherKey), "k2"))
}

func usable(t *testing.T, p *Policy) *Policy {
	t.Helper()
	if err := p.Err(); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAPolicyWithAnErrorRedactsEveryName(t *testing.T) {
	zeros := make([]byte, MinKeySize)
	rules := []Rule{Exact("billing"), Literals(), Template("{x}-{y}").Raw()}
	malformed := append([]Rule{Template("tenant")}, rules...)
	good := hashed(t, key, "k1", rules...)
	cases := map[string]struct {
		policy *Policy
		want   Info
	}{
		"no key":                     {Hash(nil, "k1", rules...), Info{Policy: "hash"}},
		"short key":                  {Hash([]byte("short"), "k1", rules...), Info{Policy: "hash"}},
		"key of zeros":               {Hash(zeros, "k1", rules...), Info{Policy: "hash"}},
		"bad id":                     {Hash(key, "k 1", rules...), Info{Policy: "hash"}},
		"good key, malformed rule":   {Hash(key, "k1", malformed...), Info{Policy: "hash"}},
		"bad secondary key":          {good.WithSecondary(zeros, "k2"), Info{Policy: "hash"}},
		"secondary is the primary":   {good.WithSecondary(key, "k2"), Info{Policy: "hash"}},
		"secondary after a bad key":  {Hash(zeros, "k1", rules...).WithSecondary(key, "k2"), Info{Policy: "hash"}},
		"secondary after bad second": {good.WithSecondary(zeros, "k2").WithSecondary([]byte(otherKey), "k2"), Info{Policy: "hash"}},
		"secondary of a constant":    {Constant(rules...).WithSecondary(key, "k2"), Info{Policy: "constant"}},
		"constant, malformed rule":   {Constant(malformed...), Info{Policy: "constant"}},
		"constant, hashed rule":      {Constant(Exact("billing").Hashed()), Info{Policy: "constant"}},
		"raw, malformed rule":        {Raw(malformed...), Info{Policy: "raw"}},
		"raw, hashed literals":       {Raw(Literals().Hashed()), Info{Policy: "raw"}},
	}
	redacted := Label{Text: "redacted", Shared: true}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.policy.Err() == nil {
				t.Fatal("no error")
			}
			for _, n := range []string{"billing", "a-b", "", "k1:937c429ef80d3ee9"} {
				got := append(c.policy.Labels(n), c.policy.LiteralLabels(n)...)
				got = append(got, c.policy.Label(n), c.policy.Literal(n))
				if diff := cmp.Diff([]Label{redacted, redacted, redacted, redacted}, got); diff != "" {
					t.Error(diff)
				}
				if text := c.policy.Name(n).String(); text != "redacted" {
					t.Errorf("the name is printed as %s", text)
				}
			}
			if diff := cmp.Diff(c.want, c.policy.Info()); diff != "" {
				t.Error(diff)
			}
			if got, want := c.policy.String(), "redact."+c.want.Policy; got != want {
				t.Errorf("printed as %s, want %s", got, want)
			}
		})
	}
	if good.Err() != nil || good.Info().KeyID != "k1" {
		t.Error("a failed WithSecondary changes the policy that it was called on")
	}
}

func TestAllErrorsOfAPolicyAreReportedAtOnce(t *testing.T) {
	err := Hash(nil, "k1", Exact("a"), Template("b"), Template("{c}{d}")).WithSecondary(nil, "k2").Err()
	for _, want := range []string{"the key has 0 bytes", "rule 2: ", "rule 3: ", "the secondary key has 0 bytes"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
	if !errors.Is(err, ErrKey) {
		t.Errorf("%v is not ErrKey", err)
	}
}

func TestTheZeroPolicyIsConstant(t *testing.T) {
	var zero Policy
	for _, name := range []string{"billing", ""} {
		if diff := cmp.Diff(Constant().Label(name), zero.Label(name)); diff != "" {
			t.Error(diff)
		}
	}
	if zero.Info() != Constant().Info() || zero.String() != Constant().String() || zero.Err() != nil {
		t.Errorf("the zero policy is %v, error %v", &zero, zero.Err())
	}
	if err := zero.WithSecondary(key, "k2").Err(); err == nil || !strings.Contains(err.Error(), "a policy from Hash") {
		t.Errorf("error %v", err)
	}
}

func TestAPrintedPolicyShowsNoKey(t *testing.T) {
	p := rotated(t, hashed(t, key, "k1"))
	derived := derive(key, "leaderscope/lock.name/v1")
	const want = "redact.hash k1/"
	if text := p.String(); !strings.HasPrefix(text, want) || !strings.Contains(text, " k2/") {
		t.Errorf("a policy is printed as %s", text)
	}
	nested := struct{ hidden Policy }{*p} // printed without its methods
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, v := range []any{p, *p, nested, p.primary, *p.primary, p.Info()} {
			text := fmt.Sprintf(verb, v)
			for _, secret := range [][]byte{key, []byte(otherKey), derived[:]} {
				for _, form := range []string{"%s", "%x", "%v", "%#v"} {
					if s := strings.Trim(fmt.Sprintf(form, secret), "[]"); strings.Contains(text, s) {
						t.Errorf("%s of %T shows the key: %s", verb, v, text)
					}
				}
			}
		}
	}
}

func TestARotationShowsBothLabelsAndPublishesOne(t *testing.T) {
	rules := []Rule{Exact("nightly"), Literals(), Template("tenant-{id}").Hashed()}
	before := hashed(t, key, "k1", rules...)
	during := rotated(t, before)
	after := hashed(t, []byte(otherKey), "k2", rules...)
	for _, name := range []string{"billing", "tenant-7"} {
		got := during.Labels(name)
		if len(got) != 2 || got[0] != before.Label(name) || got[1] != after.Label(name) {
			t.Errorf("labels are %v", got)
		}
		if during.Label(name) != before.Label(name) {
			t.Errorf("a secondary key changes what is published")
		}
	}
	for what, got := range map[string][]Label{"an exact name": during.Labels("nightly"), "a constant": during.LiteralLabels("billing")} {
		if len(got) != 1 || got[0].Shared {
			t.Errorf("%s that no key covers has labels %v", what, got)
		}
	}
	info := during.Info()
	if info.KeyID != "k1" || info.SecondaryID != "k2" || info.SecondaryCheck != after.Info().KeyCheck {
		t.Errorf("info is %+v", info)
	}
}
