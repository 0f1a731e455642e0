package redact

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var key = []byte("0123456789abcdef0123456789abcdef")

func hashed(t *testing.T, key []byte, id string, rules ...Rule) *Policy {
	t.Helper()
	p, err := Hash(key, id, rules...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestLabelFollowsTheFirstRuleElseThePolicy(t *testing.T) {
	rules := []Rule{Exact("daily-report"), Template("tenant-{id}/orders"), Template("{user}@example.com")}
	family := Label{Text: "tenant-*/orders", Family: "tenant-*/orders", Shared: true}
	cases := []struct {
		name, in string
		policy   *Policy
		want     Label
	}{
		{"the default gives nothing away", "tenant-42/orders", Constant(), Label{Text: "redacted", Shared: true}},
		{"an exact rule lets a name through", "daily-report", Constant(rules...), Label{Text: "daily-report"}},
		{"a template gives its family", "tenant-42/orders", Constant(rules...), family},
		{"a template spans any bytes", "tenant-a/b\xff/orders", Constant(rules...), family},
		{"a template needs something for its variable", "tenant-/orders", Constant(rules...), Label{Text: "redacted", Shared: true}},
		{"a variable may come first", "alice@example.com", Constant(rules...), Label{Text: "*@example.com", Family: "*@example.com", Shared: true}},
		{"rules come first under a key too", "tenant-42/orders", hashed(t, key, "k1", rules...), family},
		{"a name under a key", "billing", hashed(t, key, "k1", rules...), Label{Text: "k1:937c429ef80d3ee9"}},
		{"raw is the name", "billing", Raw(), Label{Text: "billing"}},
		{"raw cannot forge the shared labels", "redacted", Raw(), Label{Text: "redacted~b68919aff001d836"}},
		{"raw cannot forge the overflow label", "overflow", Raw(), Label{Text: "overflow~94fa3e5538d57f71"}},
		{"raw cannot forge a family", "tenant-*/orders", Raw(), Label{Text: "tenant-_/orders~30586fdf412c8456"}},
		{"an empty name has a label", "", Raw(), Label{Text: "unnamed"}},
		{"invalid bytes and control characters", "a\xffb\nc", Raw(), Label{Text: "a_b_c~2b90698d4eca1e40"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if err := c.policy.Err(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, c.policy.Label(c.in)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLongNamesStayApartAndShort(t *testing.T) {
	long := strings.Repeat("ü", 100)
	a, b := Raw().Label(long+"a").Text, Raw().Label(long+"b").Text
	if a == b || len(a) > MaxLabelSize || !utf8.ValidString(a) {
		t.Errorf("labels %q and %q", a, b)
	}
}

func TestC20KeyedLabelsCannotBeGuessedAndAgreeAcrossReplicas(t *testing.T) {
	one, again := hashed(t, key, "k1"), hashed(t, append([]byte(nil), key...), "k1")
	other := hashed(t, []byte("another key of thirty-two bytes!"), "k1")
	for i := range 1000 {
		name := fmt.Sprintf("user-%d@example.com", i)
		label := one.Label(name).Text
		if label != again.Label(name).Text {
			t.Fatalf("replicas disagree on name %d", i)
		}
		if label == other.Label(name).Text {
			t.Fatalf("two keys agree on name %d", i)
		}
		digits := strings.TrimPrefix(label, "k1:")
		md, s1, s2 := md5.Sum([]byte(name)), sha1.Sum([]byte(name)), sha256.Sum256([]byte(name))
		for _, sum := range []string{hex.EncodeToString(md[:]), hex.EncodeToString(s1[:]), hex.EncodeToString(s2[:])} {
			if strings.Contains(sum, digits) {
				t.Fatalf("label of name %d is part of an unkeyed digest", i)
			}
		}
	}
	if one.Info() != again.Info() || one.Info().KeyCheck == other.Info().KeyCheck {
		t.Errorf("key checks: %v, %v, %v", one.Info(), again.Info(), other.Info())
	}
}

func TestBadKeysAndRulesAreOneClearErrorWithoutTheKey(t *testing.T) {
	short := "short-secret"
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	_, errShort := Hash([]byte(short), "k1")
	_, errID := Hash(key, "k 1")
	_, errRule := Hash(key, "k1", Template("no variable"))
	_, errMissing := ReadKeyFile(filepath.Join(dir, "none"))
	_, errOpen := ReadKeyFile(write("open", string(key), 0o644))
	_, errFile := ReadKeyFile(write("short", short, 0o600))
	cases := map[string]struct {
		err  error
		want string
	}{
		"short key":           {errShort, "12 bytes, want at least 32"},
		"bad key id":          {errID, `key id "k 1"`},
		"bad rule":            {errRule, `template "no variable" has no {variable}`},
		"missing file":        {errMissing, "none"},
		"world-readable file": {errOpen, "mode 0644"},
		"short file":          {errFile, "holds 12 bytes"},
		"adjacent variables":  {Constant(Template("{a}{b}")).Err(), "text between"},
		"open brace":          {Raw(Template("x{a")).Err(), "write a variable as {name}"},
		"closing brace":       {Raw(Template("x}a")).Err(), "'}' without '{'"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.err == nil || !strings.Contains(c.err.Error(), c.want) || strings.Contains(c.err.Error(), short) {
				t.Errorf("error %v, want it to say %q", c.err, c.want)
			}
		})
	}
	if !errors.Is(errShort, ErrKey) || !errors.Is(errFile, ErrKey) {
		t.Error("errors about keys wrap ErrKey")
	}
	got, err := ReadKeyFile(write("good", string(key)+"\n", 0o600))
	if err != nil || string(got) != string(key) {
		t.Errorf("good file: %v", err)
	}
}

func FuzzLabelIsAlwaysWellFormed(f *testing.F) {
	policies := []*Policy{Constant(), Raw(), Constant(Exact("a"), Template("t-{x}"))}
	p, err := Hash(key, "k1", Template("{x}-{y}"))
	if err != nil {
		f.Fatal(err)
	}
	policies = append(policies, p)
	for _, s := range []string{"", "a", "t-\xff", "redacted", "overflow", "*", "a-b", strings.Repeat("é", 99)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		for _, p := range policies {
			l := p.Label(name)
			if l.Text == "" || len(l.Text) > MaxLabelSize || !utf8.ValidString(l.Text) {
				t.Errorf("%s label %q", p.Info().Mode, l.Text)
			}
			shared := l.Text == Redacted || l.Text == Overflow || strings.Contains(l.Text, Wildcard)
			if shared != l.Shared {
				t.Errorf("%s label %q, shared %v", p.Info().Mode, l.Text, l.Shared)
			}
		}
	})
}
