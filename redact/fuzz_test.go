package redact

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func FuzzLabelIsAlwaysWellFormedAndNeverForged(f *testing.F) {
	hash := Hash(key, "k1", Template("{x}-{y}"), Template("raw/{x}").Raw(), Template("h/{x}").Hashed(), Exact("k1:937c429ef80d3ee9"))
	policies := []*Policy{Constant(), Raw(), Constant(Exact("a"), Template("t-{x}"), Template("{x}").Raw()), hash, Constant(Template("{x}").Hashed()),
		Constant(Literals()), Hash(key, "k1", Literals().Hashed()), Hash(nil, "k1", Template("{x}").Raw())}
	for _, s := range []string{"", "a", "t-\xff", Redacted, Overflow, unnamed, Wildcard, "a-b", "h/x", "raw/k1:0123456789abcdef",
		strings.Repeat("é", 99), "k1:937c429ef80d3ee9", "k2:0123456789abcdef", "redacted~b68919aff001d836", "a\u202eb\u2028\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		for _, p := range policies {
			for _, l := range []Label{p.Label(name), p.Literal(name)} {
				if l.Text == "" || len(l.Text) > MaxLabelSize || !utf8.ValidString(l.Text) || strings.ContainsFunc(l.Text, unicode.IsControl) {
					t.Errorf("%v: label %q", p, l.Text)
				}
				if shared := l.Text == Redacted || l.Text == Overflow || strings.Contains(l.Text, Wildcard); shared != l.Shared {
					t.Errorf("%v: label %q, shared %v", p, l.Text, l.Shared)
				}
				if isHash(l.Text) && (p.primary == nil || l.Text != p.primary.label(name)) {
					t.Errorf("%v: label %q is the hash of another name", p, l.Text)
				}
				if l.Text == unnamed && name != "" {
					t.Errorf("%v: a name has the label of the empty one", p)
				}
			}
			if n := p.Name(name); n.String() != p.Label(name).Text || n.Reveal() != name {
				t.Errorf("%v: name %v, label %q", p, n, p.Label(name).Text)
			}
			first, literal := p.Label(name), p.Literal(name)
			if again := p.Label(name); again != first {
				t.Errorf("%v: labels %+v and %+v of one name", p, first, again)
			}
			if again := p.Literal(name); again != literal {
				t.Errorf("%v: labels %+v and %+v of one constant", p, literal, again)
			}
		}
	})
}

// Under the policy that changes names least, two different names never share a
// label.
func FuzzTwoRawNamesAreTwoLabels(f *testing.F) {
	for _, pair := range [][2]string{{"", unnamed}, {"redacted", "redacted~b68919aff001d836"}, {"a*", "a_"}, {"a\xff", "a\xfe"}, {"a\n", "a_"}} {
		f.Add(pair[0], pair[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if one, other := Raw().Label(a).Text, Raw().Label(b).Text; (a == b) != (one == other) {
			t.Errorf("%q and %q have labels %q and %q", a, b, one, other)
		}
	})
}

func FuzzTemplatesNeverPassForOneLock(f *testing.F) {
	for _, s := range []string{"tenant-{id}/orders", "{a}{b}", "{", "}", "{x}", "*{x}*", "\xff{x}\n", strings.Repeat("long", 99) + "{x}"} {
		f.Add(s, "tenant-42/orders")
	}
	f.Fuzz(func(t *testing.T, template, name string) {
		p := Constant(Template(template))
		if p.Err() != nil {
			if l := p.Label(name); l != (Label{Text: Redacted, Shared: true}) {
				t.Errorf("a malformed template gives %q", l.Text)
			}
			return
		}
		l := p.Label(strings.NewReplacer("{", "", "}", "").Replace(template))
		for _, l := range []Label{l, p.Label(name)} {
			if !l.Shared || l.Text != Redacted && !strings.Contains(l.Text, Wildcard) || len(l.Text) > MaxLabelSize || !utf8.ValidString(l.Text) {
				t.Errorf("template %q gives %+v", template, l)
			}
		}
	})
}
