package instrument_test

import (
	"os/exec"
	"strings"
	"testing"
)

// A name in a variable does not compile where a constant is asked for, and the
// compiler's message leads to the right call.
func TestOnlyAConstantIsANameOfTheProgram(t *testing.T) {
	for program, want := range map[string]string{
		"constant": "",
		"variable": `cannot use name (variable of type string) as instrument.literalElseUseNamed value in argument to m.Election`,
		"typed":    `cannot use name (constant "tenant" of type string) as instrument.literalElseUseNamed value in argument to m.Election`,
	} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			out, err := exec.Command("go", "build", "-o", t.TempDir(), "./testdata/names/"+program).CombinedOutput()
			if (err == nil) != (want == "") || !strings.Contains(string(out), want) {
				t.Errorf("%v:\n%s\nwant %q", err, out, want)
			}
		})
	}
}
