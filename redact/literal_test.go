package redact

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestConstantsOfTheProgramFollowTheFirstRuleElseThePolicy(t *testing.T) {
	redacted := Label{Text: "redacted", Shared: true}
	billing := Label{Text: "billing"}
	hash := Label{Text: "k1:937c429ef80d3ee9"}
	family := Label{Text: "tenant-*", Family: "tenant-*", Shared: true}
	cases := []struct {
		name               string
		policy             *Policy
		in                 string
		constant, runtimes Label // of the name as a constant, and made at run time
	}{
		{"what instrument does without a policy", Constant(Literals()), "billing", billing, redacted},
		{"constant covers both", Constant(), "billing", redacted, redacted},
		{"hash covers both", hashed(t, key, "k1"), "billing", hash, hash},
		{"raw lets both through", Raw(), "billing", billing, billing},
		{"hash that lets constants through", hashed(t, key, "k1", Literals()), "billing", billing, hash},
		{"constants are hashed, the rest is redacted", hashed(t, key, "k1", Literals().Hashed(), Template("{rest}").Constant()), "billing", hash, Label{Text: "*", Family: "*", Shared: true}},
		{"constants are redacted, the rest is raw", Raw(Literals().Constant()), "billing", redacted, billing},
		{"raw said twice", Constant(Literals().Raw()), "billing", billing, redacted},
		{"an exact name covers both", Constant(Exact("billing")), "billing", billing, billing},
		{"a template covers both", Constant(Template("tenant-{id}")), "tenant-42", family, family},
		{"a template ahead of the constants", Constant(Template("tenant-{id}"), Literals()), "tenant-42", family, family},
		{"a template behind the constants", Constant(Literals(), Template("tenant-{id}")), "tenant-42", Label{Text: "tenant-42"}, family},
		{"an exact name ahead of the constants", Constant(Exact("billing").Constant(), Literals()), "billing", redacted, redacted},
		{"an exact name behind the constants", Constant(Literals(), Exact("billing").Constant()), "billing", billing, redacted},
		{"the empty constant", Constant(Literals()), "", Label{Text: "unnamed"}, redacted},
		{"a constant cannot forge a shared label", Constant(Literals()), "redacted", Label{Text: "redacted~b68919aff001d836"}, redacted},
		{"a constant cannot forge a family", Constant(Literals()), "tenant-*/orders", Label{Text: "tenant-_/orders~30586fdf412c8456"}, redacted},
		{"a constant cannot forge a hash", hashed(t, key, "k1", Literals()), "k1:937c429ef80d3ee9", Label{Text: "k1:937c429ef80d3ee9~21635d48f2a5bb34"}, Label{Text: "k1:383da1f59e317e02"}},
		{"the zero rule covers neither", Constant(Rule{}), "", redacted, redacted},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			usable(t, c.policy)
			if diff := cmp.Diff([]Label{c.constant, c.runtimes}, []Label{c.policy.Literal(c.in), c.policy.Label(c.in)}); diff != "" {
				t.Error(diff)
			}
		})
	}
}
