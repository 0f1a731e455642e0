package electtest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var quoted = regexp.MustCompile("(?s)<!-- from (\\S+) -->\n```go\n(.*?)```")

func TestTheTemplateOfAnAdapterIsShort(t *testing.T) {
	guide := read(t, "../..", "docs/adapters.md")
	template := quoted.FindStringSubmatch(guide)
	if template == nil || !strings.Contains(template[2], "func NewElector(") {
		t.Fatal("the first program of the guide is not the template")
	}
	if lines := strings.Count(template[2], "\n"); lines >= 40 {
		t.Errorf("the template has %d lines, want less than 40", lines)
	}
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
