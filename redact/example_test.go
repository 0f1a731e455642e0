package redact_test

import (
	"fmt"

	"github.com/leaderscope/leaderscope/redact"
)

func ExampleConstant() {
	policy := redact.Constant(redact.Exact("daily-report"), redact.Template("tenant-{id}/orders"))
	for _, name := range []string{"daily-report", "tenant-42/orders", "alice@example.com"} {
		fmt.Println(policy.Label(name).Text)
	}
	// Output:
	// daily-report
	// tenant-*/orders
	// redacted
}
