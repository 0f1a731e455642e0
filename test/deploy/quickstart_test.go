package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/yannh/kubeconform/pkg/resource"
	"github.com/yannh/kubeconform/pkg/validator"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// manifest is a block of docs/kubernetes.md that begins with the name of a file.
func manifest(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(root + "/docs/kubernetes.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks(string(text), "yaml") {
		if strings.HasPrefix(b, "# "+name+"\n") {
			return b
		}
	}
	t.Fatalf("docs/kubernetes.md has no %s", name)
	return ""
}

// manifests are the objects that the quick start applies, valid ones.
func manifests(t *testing.T) (all []metav1.Object) {
	t.Helper()
	v := conformist(t)
	for document := range strings.SplitSeq(manifest(t, "service.yaml")+"---\n"+manifest(t, "servicemonitor.yaml"), "---\n") {
		object, err := decoded([]byte(document))
		if err != nil {
			t.Fatalf("%v in:\n%s", err, document)
		}
		if r := v.ValidateResource(resource.Resource{Bytes: []byte(document)}); r.Status != validator.Valid && r.Status != validator.Skipped {
			t.Errorf("%v in:\n%s", r.Err, document)
		}
		all = append(all, object)
	}
	return all
}

func TestTheObjectsOfTheQuickStartFitTogether(t *testing.T) {
	all := manifests(t)
	container := only[*appsv1.Deployment](t, all).Spec.Template.Spec.Containers[0]
	service, monitor := only[*corev1.Service](t, all), only[*monitoring.ServiceMonitor](t, all)
	for label, value := range monitor.Spec.Selector.MatchLabels {
		if service.Labels[label] != value {
			t.Errorf("the monitor selects %s=%s, the service has %q", label, value, service.Labels[label])
		}
	}
	for label, value := range service.Spec.Selector {
		if got := only[*appsv1.Deployment](t, all).Spec.Template.Labels[label]; got != value {
			t.Errorf("the service selects %s=%s, the pods have %q", label, value, got)
		}
	}
	if port := service.Spec.Ports[0]; port.Name != monitor.Spec.Endpoints[0].Port || port.TargetPort.String() != container.Ports[0].Name {
		t.Errorf("the monitor asks port %s of the service, which is %s of %s", monitor.Spec.Endpoints[0].Port, port.Name, container.Ports[0].Name)
	}
	probe := container.ReadinessProbe
	if probe == nil || probe.HTTPGet == nil || probe.HTTPGet.Port.String() != container.Ports[0].Name || container.LivenessProbe != nil {
		t.Fatalf("the probes are %v and %v", probe, container.LivenessProbe)
	}
	program, err := os.ReadFile(root + "/examples/kubernetes/main.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, used := range []string{`"` + container.VolumeMounts[0].MountPath + `/key"`, `Getenv("` + container.Env[0].Name + `")`, `":8080"`, `http.Handle("` + probe.HTTPGet.Path + `", status.Ready(m))`} {
		if !strings.Contains(string(program), used) {
			t.Errorf("the program does not use %s", used)
		}
	}
	if container.Ports[0].ContainerPort != 8080 {
		t.Errorf("the container's port is %d", container.Ports[0].ContainerPort)
	}
}

func TestTheConfigurationOfTheQuickStartMakesItsObjects(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "leaderscope.yaml")
	if err := os.WriteFile(file, []byte(manifest(t, "leaderscope.yaml")), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "run", root+"/cmd/gen-dashboards", "--config", file, "--out", dir, "--format", "prometheusrule,configmap").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "prometheusrule", "leaderscope-rules.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var rule monitoring.PrometheusRule
	if err := yaml.UnmarshalStrict(text, &rule); err != nil {
		t.Fatal(err)
	}
	if rule.Labels["release"] != only[*monitoring.ServiceMonitor](t, manifests(t)).Labels["release"] || !strings.Contains(string(text), ", pod)") {
		t.Errorf("the rules have the labels %v, or do not group by pod", rule.Labels)
	}
	dashboards, err := filepath.Glob(filepath.Join(dir, "configmap", "*.yaml"))
	if err != nil || len(dashboards) == 0 {
		t.Errorf("no dashboards: %v", err)
	}
}
