// Package layout holds the tests that keep the modules apart: what each part
// may import, and what a user of one part links.
package layout

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/leaderscope/leaderscope/"

// deps lists what a program that imports these packages links.
func deps(t *testing.T, packages ...string) []string {
	t.Helper()
	args := append([]string{"list", "-deps"}, packages...)
	out, err := exec.Command("go", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("go %v: %v\n%s", args, err, out)
	}
	return strings.Fields(string(out))
}

func TestAServiceLinksNoSDKAndNoEngine(t *testing.T) {
	linked := deps(t, module+"instrument", module+"redact", module+"exporter/prom", module+"instrument/fence")
	for _, heavy := range []string{
		"go.opentelemetry.io/otel/sdk", "github.com/grafana/", "github.com/prometheus/prometheus/",
		"github.com/spf13/", "github.com/goccy/", "google.golang.org/grpc",
	} {
		for _, p := range linked {
			if strings.HasPrefix(p, heavy) {
				t.Errorf("a service that wraps an elector links %s", p)
			}
		}
	}
}

func TestAnExporterLinksNoSDKAndNotTheOtherExporter(t *testing.T) {
	cases := map[string][]string{
		"exporter/otelmetric": {"go.opentelemetry.io/otel/sdk", "go.opentelemetry.io/otel/exporters", "github.com/prometheus/", module + "exporter/prom"},
		"exporter/prom":       {"go.opentelemetry.io/otel/metric", module + "exporter/otelmetric"},
		"exporter/status":     {"go.opentelemetry.io/otel/metric", "github.com/prometheus/", module + "exporter/prom", module + "exporter/otelmetric"},
	}
	for pkg, foreign := range cases {
		for _, p := range deps(t, module+pkg) {
			if hasAnyPrefix(p, foreign) {
				t.Errorf("%s links %s", pkg, p)
			}
		}
	}
}

// The SDK and gRPC are heavy.
func TestWhatLinksAHeavyLibraryIsAModuleOfItsOwn(t *testing.T) {
	for _, dir := range []string{"exporter/otelmetric/otelsetup", "instrument/fence/grpcfence"} {
		list := exec.Command("go", "list", "-m")
		list.Dir = "../../" + dir
		list.Env = append(os.Environ(), "GOWORK=off")
		out, err := list.Output()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(string(out)); got != module+dir {
			t.Errorf("%s is in module %s", dir, got)
		}
	}
}

// A service that checks tokens links what its store is, and no other.
func TestEachFormOfAFenceLinksItsOwnLibraryAlone(t *testing.T) {
	libraries := []string{"net/http", "database/sql", "google.golang.org/grpc", "go.etcd.io/", "github.com/redis/"}
	for pkg, want := range map[string][]string{
		"": nil, "/httpfence": {"net/http"}, "/sqlfence": {"database/sql"}, "/grpcfence": {"net/http", "google.golang.org/grpc"},
	} {
		linked := moduleDeps(t, "../../instrument/fence"+pkg)
		for _, library := range libraries {
			found := slices.ContainsFunc(linked, func(p string) bool {
				return p == library || strings.HasSuffix(library, "/") && strings.HasPrefix(p, library)
			})
			if found != slices.Contains(want, library) {
				t.Errorf("fence%s links %s: %v", pkg, library, found)
			}
		}
	}
}

func TestTheCoreIsTheStandardLibraryAndTheTraceAPI(t *testing.T) {
	allowed := []string{
		module + "instrument", module + "redact",
		"go.opentelemetry.io/otel/attribute", "go.opentelemetry.io/otel/codes", "go.opentelemetry.io/otel/trace",
		"go.opentelemetry.io/otel/semconv", "go.opentelemetry.io/otel/internal", "github.com/cespare/xxhash/v2",
	}
	for _, p := range deps(t, module+"instrument") {
		if !strings.Contains(strings.Split(p, "/")[0], ".") || hasAnyPrefix(p, allowed) {
			continue
		}
		t.Errorf("package instrument links %s", p)
	}
}

func TestImportsPointInOneDirection(t *testing.T) {
	cases := map[string][]string{ // package: what of ours it may import
		"redact":             nil,
		"instrument/catalog": nil,
		"redact/rulesfile":   {"redact"},
		"dashboards":         {"instrument/catalog", "internal/"},
		"alerts":             {"instrument/catalog", "internal/"},

		"instrument":                   {"redact", "instrument/catalog"},
		"instrument/internal/lock":     {"instrument/catalog"},
		"instrument/internal/registry": {"redact", "instrument/catalog", "instrument/internal/lock"},
		"instrument/internal/reading":  {"redact", "instrument/catalog", "instrument/internal/lock", "instrument/internal/registry"},
		"instrument/internal/bridge":   nil,

		"exporter/prom":       {"instrument", "instrument/catalog", "redact", "exporter/internal/"},
		"exporter/otelmetric": {"instrument", "instrument/catalog", "redact"},
		"exporter/status":     {"instrument", "instrument/catalog", "redact"},
	}
	for pkg, allowed := range cases {
		for _, p := range deps(t, module+pkg) {
			ours, ok := strings.CutPrefix(p, module)
			if !ok || isPartOf(ours, pkg) {
				continue
			}
			if !isAllowed(ours, allowed) {
				t.Errorf("%s imports %s", pkg, ours)
			}
		}
	}
}

// The state machine of a lock is driven by events with instants in them: what
// has neither clock nor mutex can be tested without either.
func TestTheStateMachineWaitsForNothing(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{join .Imports "\n"}}`, module+"instrument/internal/lock").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, p := range strings.Fields(string(out)) {
		if slices.Contains([]string{"context", "sync", "log/slog", "os", "runtime"}, p) {
			t.Errorf("instrument/internal/lock imports %s", p)
		}
	}
}

func isAllowed(p string, allowed []string) bool {
	for _, a := range allowed {
		if isPartOf(p, a) || strings.HasSuffix(a, "/") && strings.HasPrefix(p, a) {
			return true
		}
	}
	return false
}

// isPartOf reports a package itself and what is internal to it.
func isPartOf(p, pkg string) bool { return p == pkg || strings.HasPrefix(p, pkg+"/internal/") }

func hasAnyPrefix(p string, prefixes []string) bool {
	for _, prefix := range prefixes {
		if strings.HasPrefix(p, prefix) {
			return true
		}
	}
	return false
}
