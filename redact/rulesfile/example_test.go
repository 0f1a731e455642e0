package rulesfile_test

import (
	"fmt"

	"github.com/leaderscope/leaderscope/redact"
	"github.com/leaderscope/leaderscope/redact/rulesfile"
)

func ExampleParse() {
	rules, err := rulesfile.Parse("rules.yaml", []byte(`
rules:
  - literals: true
  - exact: [daily-report]
  - template: tenant-{id}/orders
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(redact.Constant(rules...).Label("tenant-42/orders").Text)
	_, err = rulesfile.Parse("rules.yaml", []byte("rules:\n  - exact: [a]\n    policy: open\n"))
	fmt.Println(err)
	// Output:
	// tenant-*/orders
	// rules.yaml:3:13: rules[0].policy: unknown policy; valid policies: constant, hash, raw
}
