//go:build integration

package release

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// remote is a bare repository with the present state of this one, tagged as a
// release would, and the environment in which the go command fetches from it.
type remote struct {
	version string
	env     []string
}

// publish commits what is here to a repository of its own, under a version that
// no other test uses, tags every module and clones it bare. The module cache is
// the user's; what is put there under that version is removed afterwards.
func publish(t *testing.T) remote {
	t.Helper()
	dir := t.TempDir()
	tree, bare := filepath.Join(dir, "tree"), filepath.Join(dir, "remote.git")
	version := fmt.Sprintf("v0.0.0-fetched.%d", time.Now().UnixNano())
	files := command(t, root, nil, "git", "ls-files", "-co", "--exclude-standard", "-z")
	for file := range strings.SplitSeq(strings.Trim(files, "\x00"), "\x00") {
		copyFile(t, filepath.Join(root, file), filepath.Join(tree, file))
	}
	command(t, tree, nil, "scripts/release", "set", version)
	identity := []string{"GIT_AUTHOR_NAME=x", "GIT_AUTHOR_EMAIL=x@x", "GIT_COMMITTER_NAME=x", "GIT_COMMITTER_EMAIL=x@x"}
	command(t, tree, nil, "git", "init", "-q")
	command(t, tree, nil, "git", "add", "-A")
	command(t, tree, identity, "git", "commit", "-qm", "release")
	command(t, tree, identity, "scripts/release", "tag")
	command(t, dir, nil, "git", "clone", "-q", "--bare", tree, bare)

	cache := strings.TrimSpace(command(t, root, nil, "go", "env", "GOMODCACHE"))
	t.Cleanup(func() {
		for _, pattern := range []string{filepath.Join(cache, base+"*@"+version), filepath.Join(cache, base, "*", "*@"+version), filepath.Join(cache, base, "*", "*", "*@"+version)} {
			found, _ := filepath.Glob(pattern)
			for _, dir := range found {
				_ = filepath.WalkDir(dir, func(p string, _ os.DirEntry, _ error) error { return os.Chmod(p, 0o700) })
				_ = os.RemoveAll(dir)
			}
		}
	})
	return remote{version, []string{
		"GOWORK=off", "GOFLAGS=-mod=mod", "GOPRIVATE=" + base, "GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=url.file://" + bare + ".insteadOf", "GIT_CONFIG_VALUE_0=https://" + base,
	}}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	info, err := os.Stat(from)
	if os.IsNotExist(err) {
		return // removed here and not yet in git
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, text, info.Mode()); err != nil {
		t.Fatal(err)
	}
}

func command(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s in %s: %v\n%s%s", name, strings.Join(args, " "), dir, err, out, stderr.String())
	}
	return string(out)
}

// service is an empty module of another team, with that program in it.
func service(t *testing.T, r remote, program string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	command(t, dir, r.env, "go", "mod", "init", "example.com/service")
	write(t, filepath.Join(dir, "main.go"), program)
	return dir
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAProgramElsewhereFetchesAndBuildsEachModule(t *testing.T) {
	r := publish(t)
	table, err := rows()
	if err != nil {
		t.Fatal(err)
	}
	programs := map[string]string{} // by the folder of the module
	for _, row := range table {
		text, err := program(row)
		if err != nil {
			t.Fatal(err)
		}
		programs[row.folder] = text
	}
	for _, m := range listed(t) {
		if !m.published() || m.dir == "internal" { // other modules fetch that one
			continue
		}
		t.Run(strings.ReplaceAll(m.dir, "/", "_"), func(t *testing.T) {
			if m.command() {
				got := command(t, t.TempDir(), r.env, "go", "run", m.path()+"@"+r.version, "--version")
				if want := filepath.Base(m.dir) + " " + strings.TrimPrefix(r.version, "v") + "\n"; got != want {
					t.Errorf("it says %q, want %q", got, want)
				}
				return
			}
			text, ok := programs[m.dir]
			if !ok {
				text = uses(t, m)
			}
			dir := service(t, r, text)
			command(t, dir, r.env, "go", "get", m.path()+"@"+r.version)
			command(t, dir, r.env, "go", "mod", "tidy")
			command(t, dir, r.env, "go", "build", "./...")
			if got := strings.TrimSpace(command(t, dir, r.env, "go", "list", "-m", "-f={{.Version}}", m.path())); got != r.version {
				t.Errorf("the service has %s %s, want %s", m.path(), got, r.version)
			}
		})
	}
}

// uses is a program for a module that has no line in the README's table: the
// README's own for the core, an import for the others.
func uses(t *testing.T, m module) string {
	t.Helper()
	if m.dir == "." {
		text, err := os.ReadFile("testdata/core.go")
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	return fmt.Sprintf("package main\n\nimport _ %q\n\nfunc main() {}\n", m.path())
}

// raised are the modules whose version a fetch raised, with both versions.
func raised(t *testing.T, before, after string) map[string]string {
	t.Helper()
	read := func(list string) map[string]string {
		versions := map[string]string{}
		for line := range strings.Lines(list) {
			if path, version, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
				versions[path] = version
			}
		}
		return versions
	}
	was, is := read(before), read(after)
	changed := map[string]string{}
	for path, version := range was {
		if is[path] != version && is[path] != "" { // one that is no longer needed is no harm
			changed[path] = version + " -> " + is[path]
		}
	}
	return changed
}

// builtFrom are the modules whose packages those packages are built from. The
// versions of others are in no program.
func builtFrom(t *testing.T, dir string, r remote, packages ...string) map[string]bool {
	t.Helper()
	modules := map[string]bool{}
	for line := range strings.Lines(command(t, dir, r.env, "go", append([]string{"list", "-deps", "-f={{with .Module}}{{.Path}}{{end}}"}, packages...)...)) {
		modules[strings.TrimSpace(line)] = true
	}
	return modules
}

func TestTheCoreRaisesNothingThatItDoesNotLink(t *testing.T) {
	r := publish(t)
	old, err := os.ReadFile("testdata/oldservice.go")
	if err != nil {
		t.Fatal(err)
	}
	dir := service(t, r, string(old))
	for _, required := range []string{
		"github.com/prometheus/client_golang@v1.20.0", "google.golang.org/grpc@v1.60.0", "golang.org/x/text@v0.14.0", "github.com/spf13/cobra@v1.8.0",
		"golang.org/x/tools@v0.30.0", "github.com/google/uuid@v1.3.0", "k8s.io/apimachinery@v0.30.0", "gopkg.in/yaml.v3@v3.0.1",
		"github.com/go-logr/logr@v1.4.1",
	} {
		command(t, dir, r.env, "go", "get", required)
	}
	command(t, dir, r.env, "go", "mod", "tidy")
	before := command(t, dir, r.env, "go", "list", "-m", "all")
	uses := builtFrom(t, dir, r, "./...")
	core, err := os.ReadFile("testdata/core.go")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "core.go"), strings.Replace(string(core), "func main() {", "func withTheCore() {", 1))
	command(t, dir, r.env, "go", "get", base+"@"+r.version)
	command(t, dir, r.env, "go", "mod", "tidy")
	command(t, dir, r.env, "go", "build", "./...")
	after := command(t, dir, r.env, "go", "list", "-m", "all")
	links := builtFrom(t, dir, r, base+"/instrument", base+"/exporter/prom", base+"/redact")
	if !uses["github.com/go-logr/logr"] || links["github.com/go-logr/logr"] || !links["github.com/prometheus/client_golang"] {
		t.Error("want a service that uses a module which the core does not link")
	}
	for path, versions := range raised(t, before, after) {
		if uses[path] && !links[path] {
			t.Errorf("the core raises %s %s and does not link it", path, versions)
		}
	}
}

// An operator that stays two minor releases of controller-runtime back keeps
// them.
func TestAnOperatorTwoMinorsBackStillCompiles(t *testing.T) {
	r := publish(t)
	operator, err := os.ReadFile("testdata/operator.go")
	if err != nil {
		t.Fatal(err)
	}
	const runtime, client = "v0.23.0", "v0.35.0"
	dir := service(t, r, string(operator))
	command(t, dir, r.env, "go", "get", "sigs.k8s.io/controller-runtime@"+runtime)
	command(t, dir, r.env, "go", "mod", "tidy")
	command(t, dir, r.env, "go", "build", "./...")
	for _, adapter := range []string{"k8slease", "ctrllease"} {
		write(t, filepath.Join(dir, adapter+".go"), fmt.Sprintf("package main\n\nimport _ %q\n", base+"/instrument/"+adapter))
		command(t, dir, r.env, "go", "get", base+"/instrument/"+adapter+"@"+r.version)
		command(t, dir, r.env, "go", "mod", "tidy")
		command(t, dir, r.env, "go", "build", "./...")
		for path, want := range map[string]string{"sigs.k8s.io/controller-runtime": runtime, "k8s.io/client-go": client} {
			if got := strings.TrimSpace(command(t, dir, r.env, "go", "list", "-m", "-f={{.Version}}", path)); got != want {
				t.Errorf("%s makes it %s %s, want %s", adapter, path, got, want)
			}
		}
	}
}
