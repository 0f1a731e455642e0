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

func ExampleHash() {
	key := []byte("32 random bytes of a secret file") // redact.ReadKeyFile("/run/secrets/lock-names")
	policy := redact.Hash(key, "k1",                  // instrument.New reports policy.Err()
		redact.Exact("daily-report"),
		redact.Template("tenant-{id}/orders").Hashed(),
	)
	for _, name := range []string{"daily-report", "tenant-42/orders", "billing"} {
		label := policy.Label(name)
		fmt.Printf("%s %q\n", label.Text, label.Family)
	}
	// Output:
	// daily-report ""
	// k1:570bf17ef8570f7c "tenant-*/orders"
	// k1:dbe9d61f126fdde3 ""
}

func ExampleLiterals() {
	policy := redact.Constant(redact.Literals()) // the policy of instrument.New without WithRedactor
	fmt.Println(policy.Literal("reconciler").Text)
	fmt.Println(policy.Label("tenant-" + "acme").Text) // asked about a name made at run time
	// Output:
	// reconciler
	// redacted
}

func ExampleName() {
	name := redact.Constant().Name("alice@example.com")
	fmt.Printf("waiting for %v, %s, %+v\n", name, name, []redact.Name{name})
	fmt.Println(len(name.Reveal()), "bytes go to the lock server")
	// Output:
	// waiting for redacted, redacted, [redacted]
	// 17 bytes go to the lock server
}
