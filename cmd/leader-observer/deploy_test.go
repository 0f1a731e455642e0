package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/leaderscope/leaderscope/cmd/leader-observer/internal/config"
)

// podMonitor has what is used of the operator's type.
type podMonitor struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Selector            metav1.LabelSelector `json:"selector"`
		PodMetricsEndpoints []struct {
			Port     string `json:"port"`
			Interval string `json:"interval"`
		} `json:"podMetricsEndpoints"`
	} `json:"spec"`
}

// manifests decodes every object of deploy, strictly, by its kind.
func manifests(t *testing.T) map[string]any {
	t.Helper()
	var list struct {
		APIVersion, Kind, Namespace string
		Resources                   []string
	}
	decode(t, "kustomization.yaml", read(t, "kustomization.yaml"), &list)
	files, err := filepath.Glob("deploy/*.yaml")
	if err != nil || len(files) != len(list.Resources)+1 {
		t.Errorf("%d files, of which kustomization.yaml lists %d: %v", len(files), len(list.Resources), err)
	}
	all := map[string]any{}
	for _, name := range list.Resources {
		documents := utilyaml.NewYAMLReader(newReader(read(t, name)))
		for {
			text, err := documents.Read()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			var kind metav1.TypeMeta
			if err := yaml.Unmarshal(text, &kind); err != nil {
				t.Fatal(err)
			}
			object, known := map[string]any{
				"Namespace": &corev1.Namespace{}, "ServiceAccount": &corev1.ServiceAccount{}, "ConfigMap": &corev1.ConfigMap{},
				"ClusterRole": &rbacv1.ClusterRole{}, "ClusterRoleBinding": &rbacv1.ClusterRoleBinding{},
				"Deployment": &appsv1.Deployment{}, "PodMonitor": &podMonitor{},
			}[kind.Kind]
			if !known || all[kind.Kind] != nil {
				t.Fatalf("%s: unexpected %s", name, kind.Kind)
			}
			decode(t, name, text, object)
			all[kind.Kind] = object
		}
	}
	return all
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func decode(t *testing.T, name string, text []byte, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict(text, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func TestTheManifestsFitTogether(t *testing.T) {
	all := manifests(t)
	const name = "leader-observer"
	deployment, monitor := all["Deployment"].(*appsv1.Deployment), all["PodMonitor"].(*podMonitor)
	pod := deployment.Spec.Template
	container := pod.Spec.Containers[0]
	binding := all["ClusterRoleBinding"].(*rbacv1.ClusterRoleBinding)
	subject := rbacv1.Subject{Kind: "ServiceAccount", Name: name, Namespace: name}
	if binding.RoleRef.Name != all["ClusterRole"].(*rbacv1.ClusterRole).Name || !slices.Equal(binding.Subjects, []rbacv1.Subject{subject}) || pod.Spec.ServiceAccountName != subject.Name {
		t.Errorf("the role is bound to %v by %v", binding.Subjects, binding.RoleRef)
	}
	for what, labels := range map[string]map[string]string{"deployment": deployment.Spec.Selector.MatchLabels, "monitor": monitor.Spec.Selector.MatchLabels} {
		if diff := cmp.Diff(pod.Labels, labels); diff != "" {
			t.Errorf("the %s selects other pods: %s", what, diff)
		}
	}
	port := container.Ports[0]
	if monitor.Spec.PodMetricsEndpoints[0].Port != port.Name || container.LivenessProbe.HTTPGet.Port.StrVal != port.Name || container.ReadinessProbe.HTTPGet.Port.StrVal != port.Name {
		t.Errorf("the port is %v", port)
	}
	c, err := config.Parse([]byte(all["ConfigMap"].(*corev1.ConfigMap).Data["config.yaml"]))
	if err != nil || c.Listen != ":9713" || port.ContainerPort != 9713 || len(c.Kubernetes) != 1 {
		t.Errorf("the configuration is %+v, %v", c, err)
	}
	mount, volume := container.VolumeMounts[0], pod.Spec.Volumes[0]
	if mount.Name != volume.Name || volume.ConfigMap.Name != all["ConfigMap"].(*corev1.ConfigMap).Name || container.Args[1] != mount.MountPath+"/config.yaml" {
		t.Errorf("the configuration of %v is mounted as %v and read as %v", volume, mount, container.Args)
	}
}

// It reads Leases, and the pod may do nothing else.
func TestTheManifestsGrantTheLeast(t *testing.T) {
	all := manifests(t)
	want := []rbacv1.PolicyRule{{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"get", "list", "watch"}}}
	if diff := cmp.Diff(want, all["ClusterRole"].(*rbacv1.ClusterRole).Rules); diff != "" {
		t.Error(diff)
	}
	pod := all["Deployment"].(*appsv1.Deployment).Spec.Template.Spec
	yes, no, user := true, false, int64(65532)
	if diff := cmp.Diff(&corev1.PodSecurityContext{
		RunAsNonRoot: &yes, RunAsUser: &user, RunAsGroup: &user, SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}, pod.SecurityContext); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(&corev1.SecurityContext{
		AllowPrivilegeEscalation: &no, ReadOnlyRootFilesystem: &yes, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}, pod.Containers[0].SecurityContext); diff != "" {
		t.Error(diff)
	}
}

func newReader(text []byte) *bufio.Reader { return bufio.NewReader(bytes.NewReader(text)) }
