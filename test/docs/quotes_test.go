package docs

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// quote is code that a page repeats from a file, so that it is compiled there.
var quote = regexp.MustCompile("(?s)<!-- from (\\S+) -->\n```[a-z]*\n(.*?)```")

func TestThePagesQuoteCodeThatIsThere(t *testing.T) {
	quoting := 0
	for file, text := range pages(t) {
		found := quote.FindAllStringSubmatch(text, -1)
		if len(found) != strings.Count(text, "<!-- from ") {
			t.Errorf("%s: a line <!-- from FILE --> has no block of code below it", file)
		}
		for _, q := range found {
			quoting++
			if !strings.Contains(read(t, filepath.Join(root, q[1])), q[2]) {
				t.Errorf("%s: %s has no such lines:\n%s", file, q[1], q[2])
			}
		}
	}
	if quoting == 0 {
		t.Error("no page quotes code")
	}
}

// A reader copies these: each is a whole program, and the README has both.
func TestTheProgramsOfTheREADMECompile(t *testing.T) {
	readme := read(t, "../../README.md")
	for _, program := range []string{"examples/electors/etcdlock/main.go", "examples/electors/redislocklead/main.go"} {
		text := read(t, filepath.Join(root, program))
		if !strings.Contains(readme, "<!-- from "+program+" -->\n```go\n"+text+"```\n") {
			t.Errorf("README.md does not have the whole of %s", program)
		}
	}
	vet := exec.Command("go", "vet", "./electors/...", "./kubernetes")
	vet.Dir = "../../examples"
	if out, err := vet.CombinedOutput(); err != nil {
		t.Errorf("go vet: %v\n%s", err, out)
	}
}
