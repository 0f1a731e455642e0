//go:build integration

package parity

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// olderExporter is OpenTelemetry's Prometheus exporter some minors ago, in the
// place of the one that otelsetup asks for.
const olderExporter = "go.opentelemetry.io/otel/exporters/prometheus=go.opentelemetry.io/otel/exporters/prometheus@v0.65.0"

// TestC52AnOlderExporterGivesTheGoldenSeriesToo runs the comparison of the
// exporters again, built with the older one.
func TestC52AnOlderExporterGivesTheGoldenSeriesToo(t *testing.T) {
	dir := t.TempDir()
	older := filepath.Join(dir, "older.mod")
	for from, to := range map[string]string{"../go.mod": older, "../go.sum": filepath.Join(dir, "older.sum")} {
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, "mod", "edit", "-replace="+olderExporter, older)
	out := run(t, "test", "-modfile="+older, "-mod=mod", "-count=1", "-v", "-run=TestC52BothExporters|TestNativeHistograms", ".")
	for _, test := range []string{"TestC52BothExportersGiveTheGoldenSeriesOfOneScenario", "TestNativeHistogramsAreTheSameFromBothExporters"} {
		if !strings.Contains(out, "--- PASS: "+test) {
			t.Errorf("%s did not pass:\n%s", test, out)
		}
	}
	if used := run(t, "list", "-modfile="+older, "-mod=mod", "-m", "-f={{.Replace.Version}}", "go.opentelemetry.io/otel/exporters/prometheus"); !strings.HasSuffix(olderExporter, strings.TrimSpace(used)) {
		t.Errorf("the exporter was %s", used)
	}
}

func run(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}
