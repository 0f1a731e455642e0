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

func TestLongNamesStayApartAndShort(t *testing.T) {
	long := strings.Repeat("ü", 100)
	a, b := Raw().Label(long+"a").Text, Raw().Label(long+"b").Text
	if a == b || len(a) > MaxLabelSize || !utf8.ValidString(a) {
		t.Errorf("labels %q and %q", a, b)
	}
}
