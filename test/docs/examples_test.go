package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// notCompared are the examples whose output no test compares with their README, with
// the reason.
var notCompared = map[string]string{
	"quickstart":           "its play takes three minutes, and its own tests hold what it prints",
	"prometheus-dashboard": "it is a configuration, and prints nothing of its own",
}

// compares calls what compares the output of an example with its README.
var compares = regexp.MustCompile(`\bstagetest\.LikeItsREADME\(`)

func TestTheOutputOfEachExampleIsComparedWithItsREADME(t *testing.T) {
	readmes, err := filepath.Glob("../../examples/*/README.md")
	if err != nil || len(readmes) < 8 {
		t.Fatalf("%v: %v", readmes, err)
	}
	for _, readme := range readmes {
		folder := filepath.Dir(readme)
		tests, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for _, file := range tests {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text.Write(source)
		}
		compared, reason := compares.MatchString(text.String()), notCompared[filepath.Base(folder)]
		switch {
		case !compared && reason == "":
			t.Errorf("no test of %s calls stagetest.LikeItsREADME", folder)
		case compared && reason != "":
			t.Errorf("%s is compared: take it off the list of those that are not", folder)
		}
	}
}
