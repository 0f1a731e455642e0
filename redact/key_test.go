package redact

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	keyVariable = "LEADERSCOPE_TEST_KEY"
	otherKey    = "another key of thirty-two bytes!"
)

// write makes a file of that mode, whatever the umask.
func write(t *testing.T, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestKeysComeFromFilesAndVariablesAlike(t *testing.T) {
	for _, end := range []string{"", "\n", "\r\n"} {
		t.Setenv(keyVariable, string(key)+end)
		fromEnv, err := KeyFromEnv(keyVariable)
		if err != nil {
			t.Fatal(err)
		}
		fromFile, err := ReadKeyFile(write(t, string(key)+end, 0o640))
		if err != nil {
			t.Fatal(err)
		}
		if string(fromEnv) != string(key) || string(fromFile) != string(key) {
			t.Errorf("with end %q the keys differ", end)
		}
	}
}

func TestBadKeysAndRulesAreOneClearErrorWithoutTheKey(t *testing.T) {
	const short = "short-secret"
	t.Setenv(keyVariable, short)
	policy := hashed(t, key, "k1")
	second := func(key []byte, id string, p *Policy) error {
		_, err := p.WithSecondary(key, id)
		return err
	}
	_, errShort := Hash([]byte(short), "k1")
	_, errID := Hash(key, string(key))
	_, errRule := Hash(key, "k1", Template("tenant-42"))
	_, errMissing := ReadKeyFile(filepath.Join(t.TempDir(), "none"))
	_, errOpen := ReadKeyFile(write(t, string(key), 0o644))
	_, errFile := ReadKeyFile(write(t, short, 0o600))
	_, errHuge := ReadKeyFile(write(t, strings.Repeat("x", 1<<17), 0o600))
	_, errDirectory := ReadKeyFile(t.TempDir())
	_, errEnv := KeyFromEnv(keyVariable)
	_, errUnset := KeyFromEnv(keyVariable + "_2")
	cases := map[string]struct {
		err   error
		want  string
		isKey bool
	}{
		"short key":           {errShort, "12 bytes, want at least 32; make one with: openssl rand -hex 32", true},
		"bad key id":          {errID, "its id has 32 bytes or other characters, want 1 to 16 letters", true},
		"missing file":        {errMissing, "none", true},
		"world-readable file": {errOpen, "mode 0644, others can use it; run: chmod o= ", true},
		"short file":          {errFile, "holds 12 bytes", true},
		"file too large":      {errHuge, "more than 65536 bytes", true},
		"directory":           {errDirectory, "leaderscope: hash key: ", true},
		"short variable":      {errEnv, "environment variable LEADERSCOPE_TEST_KEY holds 12 bytes", true},
		"variable not set":    {errUnset, "environment variable LEADERSCOPE_TEST_KEY_2 is not set", true},
		"short second key":    {second([]byte(short), "k2", policy), "12 bytes", true},
		"second key, same id": {second([]byte(otherKey), "k1", policy), "make a new key under a new id", true},
		"second key, same":    {second(key, "k2", policy), "make a new key under a new id", true},
		"second key alone":    {second(key, "k2", Constant()), "needs a policy made by Hash", true},
		"no variable":         {errRule, "rule 1: the template has no {variable}", false},
		"hashed, no key":      {Constant(Exact("a"), Exact("b").Hashed()).Err(), "rule 2: Hashed needs a key", false},
		"adjacent variables":  {Constant(Template("{a}{b}")).Err(), "put text between", false},
		"open brace":          {Raw(Template("x{a")).Err(), "write one as {name}", false},
		"closing brace":       {Raw(Template("x}a")).Err(), "'}' without '{'", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.err == nil || !strings.Contains(c.err.Error(), c.want) || errors.Is(c.err, ErrKey) != c.isKey {
				t.Fatalf("error %v, want it to say %q", c.err, c.want)
			}
			for _, secret := range []string{short, string(key), otherKey, "tenant-42"} {
				if strings.Contains(c.err.Error(), secret) {
					t.Errorf("the error says %q", secret)
				}
			}
		})
	}
}

func TestAPrintedPolicyShowsNoKey(t *testing.T) {
	p, err := hashed(t, key, "k1").WithSecondary([]byte(otherKey), "k2")
	if err != nil {
		t.Fatal(err)
	}
	derived, err := derive(key, "leaderscope/lock.name/v1")
	if err != nil {
		t.Fatal(err)
	}
	const want = "redact.hash k1/"
	if text := p.String(); !strings.HasPrefix(text, want) || !strings.Contains(text, " k2/") {
		t.Errorf("a policy is printed as %s", text)
	}
	nested := struct{ hidden Policy }{*p} // printed without its methods
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, v := range []any{p, *p, nested, p.primary, *p.primary, p.Info()} {
			text := fmt.Sprintf(verb, v)
			for _, secret := range [][]byte{key, []byte(otherKey), derived} {
				for _, form := range []string{"%s", "%x", "%v", "%#v"} {
					if s := strings.Trim(fmt.Sprintf(form, secret), "[]"); strings.Contains(text, s) {
						t.Errorf("%s of %T shows the key: %s", verb, v, text)
					}
				}
			}
		}
	}
}

func TestARotationShowsBothLabelsAndPublishesOne(t *testing.T) {
	rules := []Rule{Exact("nightly"), Template("tenant-{id}").Hashed()}
	before := hashed(t, key, "k1", rules...)
	during, err := before.WithSecondary([]byte(otherKey), "k2")
	if err != nil {
		t.Fatal(err)
	}
	after := hashed(t, []byte(otherKey), "k2", rules...)
	for _, name := range []string{"billing", "tenant-7"} {
		got := during.Labels(name)
		if len(got) != 2 || got[0] != before.Label(name) || got[1] != after.Label(name) {
			t.Errorf("labels are %v", got)
		}
		if during.Label(name) != before.Label(name) {
			t.Errorf("a secondary key changes what is published")
		}
	}
	if got := during.Labels("nightly"); len(got) != 1 {
		t.Errorf("a name that no key covers has labels %v", got)
	}
	info := during.Info()
	if info.KeyID != "k1" || info.SecondaryID != "k2" || info.SecondaryCheck != after.Info().KeyCheck {
		t.Errorf("info is %+v", info)
	}
}
