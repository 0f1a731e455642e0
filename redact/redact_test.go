package redact

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var key = []byte("0123456789abcdef0123456789abcdef")

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
		{"raw cannot forge the empty name's label", "unnamed", Raw(), Label{Text: "unnamed~e882bcaadb1e02e2"}},
		{"raw cannot forge a hash", "k1:937c429ef80d3ee9", Raw(), Label{Text: "k1:937c429ef80d3ee9~21635d48f2a5bb34"}},
		{"an exact rule cannot forge a hash of the key in use", "k1:937c429ef80d3ee9", hashed(t, key, "k1", Exact("k1:937c429ef80d3ee9")), Label{Text: "k1:937c429ef80d3ee9~21635d48f2a5bb34"}},
		{"raw cannot forge a changed name", "redacted~b68919aff001d836", Raw(), Label{Text: "redacted~b68919aff001d836~a0378f5bca055471"}},
		{"marks that turn the text around", "a\u202eb", Raw(), Label{Text: "a_b~1f7a9d5e8e213a52"}},
		{"a hashed template keeps its family beside the hash", "tenant-42/orders", hashed(t, key, "k1", Template("tenant-{id}/orders").Hashed()), Label{Text: "k1:5bbc78b30d513a10", Family: "tenant-*/orders"}},
		{"a raw template keeps its family beside the name", "tenant-42/orders", Constant(Template("tenant-{id}/orders").Raw()), Label{Text: "tenant-42/orders", Family: "tenant-*/orders"}},
		{"an exact name may be hidden where names are raw", "payroll", Raw(Exact("payroll").Constant()), Label{Text: "redacted", Shared: true}},
		{"an exact name may be hashed ahead of its family", "tenant-vip", hashed(t, key, "k1", Exact("tenant-vip").Hashed(), Template("tenant-{id}")), Label{Text: "k1:ca02c61f7f09a79f"}},
		{"the last rule may cover the rest", "billing", hashed(t, key, "k1", Exact("nightly").Hashed(), Template("{name}")), Label{Text: "*", Family: "*", Shared: true}},
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

func TestATemplateCoversWhatHasABytePerVariable(t *testing.T) {
	for template, names := range map[string]map[string]bool{
		"a{x}b{y}c": {"a1b2c": true, "a1bb2c": true, "abb2c": true, "a1b2cc": true, "a1bcc": true, "ab2c": false, "a1bc": false, "a1b": false, "abc": false, "a": false, "": false, "a1c2c": false, "1b2c": false, "a1b2": false, "xa1b2c": false},
		"{x}/{y}":   {"a/b": true, "//b": true, "a//": true, "///": true, "/b": false, "a/": false, "//": false, "/": false, "ab": false},
		"a{x}":      {"a1": true, "a": false, "b1": false},
		"{x}a":      {"1a": true, "aa": true, "a": false, "a1": false},
		"{x}":       {"a": true, "\xff": true, "": false},
		"ab{x}ba":   {"abxba": true, "abba": false, "aba": false},
	} {
		policy := Constant(Template(template))
		for name, want := range names {
			if got := policy.Label(name).Family != ""; got != want {
				t.Errorf("template %s covers %q: %v", template, name, got)
			}
		}
	}
}

func TestATemplateThatCannotBeReadIsAnError(t *testing.T) {
	for template, want := range map[string]string{
		"":         "no {variable}",
		"a":        "no {variable}",
		"{":        "begins no variable",
		"{}":       "begins no variable",
		"a{}":      "begins no variable",
		"{a":       "begins no variable",
		"{a}-{":    "begins no variable",
		"{a{b}}":   "begins no variable",
		"{{a}":     "begins no variable",
		"}":        "'}' without '{'",
		"a}{b}":    "'}' without '{'",
		"{a}}":     "'}' without '{'",
		"{a}-}{b}": "'}' without '{'",
		"{a}{b}":   "side by side",
		"-{a}{b}-": "side by side",
		"{a}-{b}":  "",
		"{a}":      "",
		"-{a}-":    "",
	} {
		err := Template(template).Err()
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("template %s: error %v, want %q", template, err, want)
		}
	}
}

// A text that is changed has a digest of itself behind it, so the length of a
// label says whether it was.
const changed = len("~") + 16

func TestANameIsChangedOnlyIfItPassesForAnotherLabel(t *testing.T) {
	digits := strings.Repeat("0", 15)
	cases := map[string]bool{
		"k1:0123456789abcdef":                true,
		"sixteen-letters_:0123456789abcdef":  true,
		"seventeen-letters:0123456789abcdef": false,
		":0123456789abcdef":                  false,
		"k 1:0123456789abcdef":               false,
		"k:1:0123456789abcdef":               false,
		"k1:0123456789abcdef0":               false,
		"k1:0123456789abcde":                 false,
		"k1-0123456789abcdef":                false,
		"0123456789abcdef":                   false,
		"a~0123456789abcdef":                 true,
		"~0123456789abcdef":                  true,
		"a~0123456789abcde":                  false,
		"a~0123456789abcdef0":                false,
		"a-0123456789abcdef":                 false,
		"redacted":                           true,
		"overflow":                           true,
		"unnamed":                            true,
		"Redacted":                           false,
		"redacted ":                          false,
		"*":                                  true,
		"_":                                  false,
		" ~":                                 false,
		"\u00a0":                             false,
		"\ufffd":                             true,
		"\x1f":                               true,
		"\x7f":                               true,
		"\u0085":                             true,
		"\u200b":                             true,
		"\u2028":                             true,
		"\u2029":                             true,
		"\u202e":                             true,
		"\xff":                               true,
		"":                                   false, // it has no digest of itself
	}
	for _, c := range "0189abcdef" {
		cases["k1:"+digits+string(c)], cases["a~"+digits+string(c)] = true, true
	}
	for _, c := range "/:@ABFG`gz" {
		cases["k1:"+digits+string(c)], cases["a~"+digits+string(c)] = false, false
	}
	for name, want := range cases {
		label := Raw().Label(name).Text
		if got := len(label) > changed && label[len(label)-changed] == '~' && label != name; got != want {
			t.Errorf("%q has the label %q", name, label)
		}
		if !want && name != "" && label != name {
			t.Errorf("%q has the label %q", name, label)
		}
	}
}

func TestOnlyATextBeyondTheLargestLabelIsCut(t *testing.T) {
	fits, letters := strings.Repeat("n", MaxLabelSize), strings.Repeat("ü", MaxLabelSize/2)
	rest := MaxLabelSize - changed
	for name, make := range map[string]func(string) string{
		"a name":    func(text string) string { return Raw().Label(text).Text },
		"a backend": Valid,
	} {
		for in, want := range map[string]string{
			fits: fits, letters: letters,
			fits + "n":    fits[:rest],
			letters + "n": letters[:rest-1], // half a letter is left out
		} {
			got := make(in)
			if in == want && got == want {
				continue
			}
			if body, digest, _ := strings.Cut(got, "~"); body != want || len(digest) != 16 {
				t.Errorf("%s of %d bytes: %q, want %q and a digest", name, len(in), got, want)
			}
		}
	}
	if got := Valid(""); got != "" {
		t.Errorf("nothing became %q", got)
	}
}

func TestOnlyAFamilyBeyondTheLargestLabelIsCut(t *testing.T) {
	family := func(template string) string {
		return Constant(Template(template)).Label(strings.ReplaceAll(template, "{x}", "x")).Family
	}
	fits := strings.Repeat("n", MaxLabelSize-1)
	if got := family(fits + "{x}"); got != fits+"*" {
		t.Errorf("a family of %d bytes became %q", MaxLabelSize, got)
	}
	long, other := family("{x}"+fits+"n"), family("{x}"+fits+"m")
	if body, digest, _ := strings.Cut(long[1:], "*"); body != fits[:MaxLabelSize-changed-2] || len(digest) != changed || digest[0] != '~' {
		t.Errorf("a longer family is %q", long)
	}
	if long == other || len(long) != MaxLabelSize {
		t.Errorf("families %q and %q of two templates", long, other)
	}
}

func TestLongNamesStayApartAndShort(t *testing.T) {
	long := strings.Repeat("ü", 100)
	a, b := Raw().Label(long+"a").Text, Raw().Label(long+"b").Text
	if a == b || len(a) > MaxLabelSize || !utf8.ValidString(a) {
		t.Errorf("labels %q and %q", a, b)
	}
}
