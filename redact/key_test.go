package redact

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

const (
	keyVariable = "LEADERSCOPE_TEST_KEY"
	otherKey    = "another key of thirty-two bytes!"
)

// write makes a file of that mode, regardless of the umask.
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

// The last bytes of a binary key can look like a part of a line end.
func TestOfABinaryKeyOneLineEndIsCutOffAndNothingElse(t *testing.T) {
	for text, want := range map[string]string{
		string(key) + "\r":         string(key) + "\r",
		string(key[:31]) + "\r":    string(key[:31]) + "\r",
		string(key) + "\r\r\n":     string(key) + "\r",
		string(key) + "\n\n":       string(key) + "\n",
		string(key) + "\n\r":       string(key) + "\n\r",
		string(key) + "\r\n\r\n":   string(key) + "\r\n",
		string(key) + "\x00\xff\r": string(key) + "\x00\xff\r",
	} {
		got, err := ReadKeyFile(write(t, text, 0o600))
		if err != nil || string(got) != want {
			t.Errorf("of %d bytes %d are left, want %d: %v", len(text), len(got), len(want), err)
		}
	}
}

// Secrets are mounted readable for everybody: 0644 by Kubernetes unless
// defaultMode says otherwise, 0440 with an fsGroup, 0444 by Docker.
func TestAMountedSecretIsReadWhateverOthersMayRead(t *testing.T) {
	for _, mode := range []os.FileMode{0o400, 0o440, 0o444, 0o600, 0o604, 0o640, 0o644, 0o755} {
		got, err := ReadKeyFile(write(t, string(key), mode))
		if err != nil || string(got) != string(key) {
			t.Errorf("mode %04o: %v", mode, err)
		}
	}
}

func TestAKeyIsReadThroughTheLinksOfASecretVolume(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "..2026_01_01"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "..2026_01_01", "key"), key, 0o644); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"..data": "..2026_01_01", "key": filepath.Join("..data", "key")} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	got, err := ReadKeyFile(filepath.Join(dir, "key"))
	if err != nil || string(got) != string(key) {
		t.Error(err)
	}
}

func TestAKeyThatOthersCanReplaceIsRefusedWithARemedyThatWorks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the mode of a file says nothing here")
	}
	for _, mode := range []os.FileMode{0o602, 0o620, 0o660, 0o664, 0o666, 0o777} {
		path := write(t, string(key), mode)
		_, err := ReadKeyFile(path)
		want := fmt.Sprintf("leaderscope: hash key: file %s has mode %04o, so that other users can replace the key; run chmod go-w on the file, or where it is mounted, set a mode such as 0440 for the mount (defaultMode of a Kubernetes volume)", path, mode)
		if err == nil || err.Error() != want || !errors.Is(err, ErrKey) {
			t.Fatalf("error %v, want %s", err, want)
		}
		if err := os.Chmod(path, mode&^0o022); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadKeyFile(path); err != nil {
			t.Errorf("mode %04o, after the remedy: %v", mode, err)
		}
	}
}

func TestBadKeysAndRulesAreOneClearErrorWithoutTheKey(t *testing.T) {
	const short = "short-secret"
	t.Setenv(keyVariable, short)
	policy := hashed(t, key, "k1")
	file := func(text string) error {
		_, err := ReadKeyFile(write(t, text, 0o600))
		return err
	}
	_, errMissing := ReadKeyFile(filepath.Join(t.TempDir(), "none"))
	_, errDirectory := ReadKeyFile(t.TempDir())
	_, errDevice := ReadKeyFile(os.DevNull)
	_, errNoPath := ReadKeyFile("")
	_, errEnv := KeyFromEnv(keyVariable)
	_, errUnset := KeyFromEnv(keyVariable + "_2")
	cases := map[string]struct {
		err   error
		want  string
		isKey bool
	}{
		"no key":              {Hash(nil, "k1").Err(), "the key has 0 bytes, want at least 32; make one with: openssl rand -hex 32", true},
		"short key":           {Hash([]byte(short), "k1").Err(), "the key has 12 bytes, want at least 32; make one with: openssl rand -hex 32", true},
		"key of zeros":        {Hash(make([]byte, 32), "k1").Err(), "the key has a repeated pattern or few different bytes, want random ones; make one with: openssl rand -hex 32", true},
		"bad key id":          {Hash(key, string(key)).Err(), "the id of the key has 32 bytes or a forbidden character, want 1 to 16 letters", true},
		"no key id":           {Hash(key, "").Err(), "the id of the key has 0 bytes or a forbidden character", true},
		"missing file":        {errMissing, "none", true},
		"empty file":          {file(""), "holds 0 bytes", true},
		"short file":          {file(short), "holds 12 bytes, want at least 32; make one with", true},
		"file of zeros":       {file(strings.Repeat("0", 64) + "\n"), "holds a repeated pattern or few different bytes, want random ones; make one with", true},
		"file too large":      {file(strings.Repeat("x", 1<<17)), "is larger than 65536 bytes", true},
		"directory":           {errDirectory, "is a directory; give the path of a file in it", true},
		"device":              {errDevice, "is a device; give the path of a regular file", true},
		"no path":             {errNoPath, "the path is empty", true},
		"short variable":      {errEnv, "environment variable LEADERSCOPE_TEST_KEY holds 12 bytes", true},
		"variable not set":    {errUnset, "environment variable LEADERSCOPE_TEST_KEY_2 is not set", true},
		"short second key":    {policy.WithSecondary([]byte(short), "k2").Err(), "the secondary key has 12 bytes", true},
		"second key of zeros": {policy.WithSecondary(make([]byte, 32), "k2").Err(), "the secondary key has a repeated pattern", true},
		"second key, bad id":  {policy.WithSecondary([]byte(otherKey), "").Err(), "the id of the secondary key has 0 bytes", true},
		"second key, same id": {policy.WithSecondary([]byte(otherKey), "k1").Err(), "make a new key under a new id", true},
		"second key, same":    {policy.WithSecondary(key, "k2").Err(), "make a new key under a new id", true},
		"second key alone":    {Constant().WithSecondary(key, "k2").Err(), "needs a policy from Hash", true},
		"raw with second key": {Raw().WithSecondary(key, "k2").Err(), "needs a policy from Hash", true},
		"no variable":         {Hash(key, "k1", Template("tenant-42")).Err(), "rule 1: the template has no {variable}", false},
		"hashed, no key":      {Constant(Exact("a"), Exact("b").Hashed()).Err(), "rule 2: Hashed needs a key", false},
		"literals, no key":    {Raw(Literals().Hashed()).Err(), "rule 1: Hashed needs a key", false},
		"adjacent variables":  {Constant(Template("{a}{b}")).Err(), "put text between", false},
		"open brace":          {Raw(Template("x{a")).Err(), "write one as {name}", false},
		"closing brace":       {Raw(Template("x}a")).Err(), "'}' without '{'", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.err == nil || !strings.Contains(c.err.Error(), c.want) || errors.Is(c.err, ErrKey) != c.isKey {
				t.Fatalf("error %v, want it to say %q", c.err, c.want)
			}
			if !strings.HasPrefix(c.err.Error(), "leaderscope: ") {
				t.Errorf("the error does not name the library: %v", c.err)
			}
			for _, secret := range []string{short, string(key), otherKey, "tenant-42"} {
				if strings.Contains(c.err.Error(), secret) {
					t.Errorf("the error says %q", secret)
				}
			}
		})
	}
}

func TestAKeyIDIsAWordThatFitsInALabel(t *testing.T) {
	for _, id := range []string{"k", "1", "K", "-", "_", "az-AZ_09", "sixteen-letters_"} {
		if err := Hash(key, id).Err(); err != nil {
			t.Errorf("id %q: %v", id, err)
		}
	}
	for _, id := range []string{"", "k 1", "k:1", "k.1", "k/1", "k*", "k`", "k{", "k@", "k[", "k\n", "k\x00", "ké", "k\xff", "seventeen-letters"} {
		err := Hash(key, id).Err()
		want := fmt.Sprintf("leaderscope: hash key: the id of the key has %d bytes or a forbidden character, want 1 to 16 letters, digits, '-' or '_'", len(id))
		if err == nil || err.Error() != want {
			t.Errorf("id %q: error %v", id, err)
		}
	}
}
