package rulesfile

import (
	"testing"

	"github.com/leaderscope/leaderscope/redact"
)

func TestAPanicOfTheParserIsAnError(t *testing.T) {
	d := &document{file: "rules.yaml"}
	rules, err := d.guarded(func() ([]redact.Rule, error) { panic("index out of range") })
	const want = "rules.yaml: this cannot be read as YAML; the fault is on this line or near it"
	if err == nil || err.Error() != want || rules != nil {
		t.Errorf("%d rules, error %v, want %s", len(rules), err, want)
	}
}
