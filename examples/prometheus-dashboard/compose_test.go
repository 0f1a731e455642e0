// Package compose holds the tests of a compose file: there is no program here.
package compose

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// file is what the compose file may say. Source: the compose specification,
// https://github.com/compose-spec/compose-spec.
type file struct {
	Name     string              `yaml:"name"`
	Services map[string]service  `yaml:"services"`
	Volumes  map[string]struct{} `yaml:"volumes"`
}

type service struct {
	Image       string            `yaml:"image"`
	NetworkMode string            `yaml:"network_mode"`
	Command     []string          `yaml:"command"`
	Environment map[string]string `yaml:"environment"`
	Volumes     []string          `yaml:"volumes"`
}

func strict(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if err := d.Decode(new(any)); !errors.Is(err, io.EOF) {
		t.Errorf("%s has more than one document: %v", name, err)
	}
}

func composed(t *testing.T) file {
	t.Helper()
	var f file
	strict(t, "compose.yaml", &f)
	if len(f.Services) != 3 {
		t.Fatalf("%d services", len(f.Services))
	}
	return f
}

// With the host's network a service listens where it says, and nowhere else:
// these are all that each of them can listen on.
func TestEverythingListensOnLoopbackOnly(t *testing.T) {
	f := composed(t)
	for name, s := range f.Services {
		if s.NetworkMode != "host" {
			t.Errorf("%s: network mode %q, and this test knows only the host's", name, s.NetworkMode)
		}
	}
	for name, flags := range map[string][]string{
		"prometheus":   {"--web.listen-address=127.0.0.1:9090"},
		"alertmanager": {"--web.listen-address=127.0.0.1:9093", "--cluster.listen-address="},
	} {
		var listens []string
		for _, c := range f.Services[name].Command {
			if strings.Contains(c, "listen-address") {
				listens = append(listens, c)
			}
		}
		if !slices.Equal(listens, flags) {
			t.Errorf("%s listens on %v, want %v", name, listens, flags)
		}
	}
	if got := f.Services["grafana"].Environment["GF_SERVER_HTTP_ADDR"]; got != "127.0.0.1" {
		t.Errorf("grafana listens on %q", got)
	}
}

func TestGrafanaHasNoPasswordThatIsKnown(t *testing.T) {
	got := composed(t).Services["grafana"].Environment
	for key, want := range map[string]string{
		"GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION": "true",
		"GF_AUTH_ANONYMOUS_ORG_ROLE":                 "Viewer",
		"GF_AUTH_DISABLE_LOGIN_FORM":                 "true",
		"GF_AUTH_BASIC_ENABLED":                      "false",
		"GF_USERS_ALLOW_SIGN_UP":                     "false",
	} {
		if got[key] != want {
			t.Errorf("%s is %q, want %q", key, got[key], want)
		}
	}
	for key := range got {
		if strings.Contains(key, "PASSWORD") {
			t.Errorf("%s: a password in a file that all can read", key)
		}
	}
}

func TestWhatIsMountedExistsAndImagesAreOfOneVersion(t *testing.T) {
	f := composed(t)
	for name, s := range f.Services {
		image, tag, tagged := strings.Cut(s.Image, ":")
		if !tagged || tag == "latest" {
			t.Errorf("%s: image %s is of no version", name, image)
		}
		for _, v := range s.Volumes {
			from, to, _ := strings.Cut(v, ":")
			if !strings.HasPrefix(from, "./") {
				if _, declared := f.Volumes[from]; !declared {
					t.Errorf("%s: volume %s is not declared", name, from)
				}
				continue
			}
			if _, err := os.Stat(from); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if !strings.HasSuffix(to, ":ro") {
				t.Errorf("%s can write to %s", name, from)
			}
		}
	}
	// What the services are told to read lies in what is mounted.
	for _, needed := range []string{
		"generated/prometheus/leaderscope-rules.yaml", "generated/alertmanager/leaderscope-alertmanager.yaml",
		"generated/grafana/leaderscope.yaml", "generated/grafana/leaderscope/overview.json", "generated/grafana/leaderscope/lock.json",
	} {
		if _, err := os.Stat(needed); err != nil {
			t.Error(err)
		}
	}
}

func TestGrafanaFindsTheDashboardsWhereTheyAreMounted(t *testing.T) {
	var provisioning struct {
		APIVersion int `yaml:"apiVersion"`
		Providers  []struct {
			Name, Folder, Type    string
			OrgID                 int  `yaml:"orgId"`
			DisableDeletion       bool `yaml:"disableDeletion"`
			UpdateIntervalSeconds int  `yaml:"updateIntervalSeconds"`
			AllowUIUpdates        bool `yaml:"allowUiUpdates"`
			Options               struct{ Path string }
		}
	}
	strict(t, "generated/grafana/leaderscope.yaml", &provisioning)
	home := composed(t).Services["grafana"].Environment["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
	for _, path := range []string{provisioning.Providers[0].Options.Path, filepath.Dir(home)} {
		if path != "/etc/grafana/provisioning/dashboards/leaderscope" {
			t.Errorf("dashboards are sought in %s", path)
		}
	}
}

func TestTheGeneratedFilesAreWhatTheREADMEsCommandWrites(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	const command = "go run github.com/leaderscope/leaderscope/cmd/gen-dashboards --out generated --config leaderscope.yaml --format grafana,prometheus,alertmanager"
	if !strings.Contains(string(readme), "\n"+command+"\n") {
		t.Errorf("the README does not give the command %s", command)
	}
	check := append(strings.Fields(command)[1:], "--check")
	if out, err := exec.Command("go", check...).CombinedOutput(); err != nil {
		t.Errorf("run %s: %v\n%s", command, err, out)
	}
}
