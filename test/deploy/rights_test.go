package deploy

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// objects are those of one rendering.
func objects(t *testing.T, documents [][]byte) (all []metav1.Object) {
	t.Helper()
	for _, document := range documents {
		o, err := decoded(document)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
	}
	return all
}

func only[T metav1.Object](t *testing.T, all []metav1.Object) (found T) {
	t.Helper()
	n := 0
	for _, o := range all {
		if of, ok := o.(T); ok {
			found = of
			n++
		}
	}
	if n != 1 {
		t.Fatalf("%d of %T", n, found)
	}
	return found
}

// grants are the rights that a rendering gives, as "where: who may what".
func grants(t *testing.T, all []metav1.Object) (granted []string) {
	t.Helper()
	rules := map[string][]rbacv1.PolicyRule{}
	for _, o := range all {
		switch o := o.(type) {
		case *rbacv1.ClusterRole:
			rules["ClusterRole//"+o.Name] = o.Rules
		case *rbacv1.Role:
			rules["Role/"+o.Namespace+"/"+o.Name] = o.Rules
		}
	}
	bound := func(where, role string, subjects []rbacv1.Subject) {
		for _, s := range subjects {
			for _, r := range rules[role] {
				granted = append(granted, strings.Join([]string{where + ":", s.Kind, s.Namespace + "/" + s.Name, "may", strings.Join(r.Verbs, ","), strings.Join(r.Resources, ","), "of", strings.Join(r.APIGroups, ",")}, " "))
			}
		}
	}
	for _, o := range all {
		switch o := o.(type) {
		case *rbacv1.ClusterRoleBinding:
			bound("cluster", o.RoleRef.Kind+"//"+o.RoleRef.Name, o.Subjects)
		case *rbacv1.RoleBinding:
			bound(o.Namespace, o.RoleRef.Kind+"/"+o.Namespace+"/"+o.RoleRef.Name, o.Subjects)
		}
	}
	slices.Sort(granted)
	return granted
}

func TestOnlyReadingLeasesIsGranted(t *testing.T) {
	const reads = ": ServiceAccount leader-observer/leader-observer may get,list,watch leases of coordination.k8s.io"
	cluster := []string{"cluster" + reads}
	for name, want := range map[string][]string{
		"the chart":                      cluster,
		"the chart without the operator": cluster,
		"the manifests":                  cluster,
		"the base":                       cluster,
		"the chart for one namespace":    {"default" + reads},
		"one namespace":                  {"default" + reads},
		"the chart with all it has":      {"a" + reads, "b" + reads},
		"the chart without Leases":       nil,
	} {
		t.Run(name, func(t *testing.T) {
			all := objects(t, rendered(t, renderings[name]))
			if diff := cmp.Diff(want, grants(t, all)); diff != "" {
				t.Error(diff)
			}
			pod := only[*appsv1.Deployment](t, all).Spec.Template.Spec
			if token := pod.AutomountServiceAccountToken; (want == nil) != (token != nil && !*token) {
				t.Errorf("the token is mounted: %v", token)
			}
		})
	}
}

func TestThePodMayDoNothingElse(t *testing.T) {
	yes, no, user := true, false, int64(65532)
	for name, render := range renderings {
		t.Run(name, func(t *testing.T) {
			pod := only[*appsv1.Deployment](t, objects(t, rendered(t, render))).Spec.Template.Spec
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
			for _, v := range pod.Volumes {
				if v.ConfigMap == nil && v.Secret == nil {
					t.Errorf("volume %s is neither a ConfigMap nor a Secret", v.Name)
				}
			}
		})
	}
}

func TestTheObjectsFitTogether(t *testing.T) {
	for name, render := range renderings {
		t.Run(name, func(t *testing.T) {
			all := objects(t, rendered(t, render))
			deployment := only[*appsv1.Deployment](t, all)
			pod := deployment.Spec.Template
			container := pod.Spec.Containers[0]
			if account := only[*corev1.ServiceAccount](t, all); account.Name != pod.Spec.ServiceAccountName {
				t.Errorf("the account is %s, the pod's %s", account.Name, pod.Spec.ServiceAccountName)
			}
			if diff := cmp.Diff(pod.Labels, deployment.Spec.Selector.MatchLabels); diff != "" {
				t.Errorf("the deployment selects other pods: %s", diff)
			}
			port := container.Ports[0]
			if port.ContainerPort != 9713 || container.LivenessProbe.HTTPGet.Port.StrVal != port.Name || container.ReadinessProbe.HTTPGet.Port.StrVal != port.Name {
				t.Errorf("the port is %v", port)
			}
			for _, o := range all {
				if monitor, ok := o.(*monitoring.PodMonitor); ok {
					if diff := cmp.Diff(pod.Labels, monitor.Spec.Selector.MatchLabels); diff != "" || *monitor.Spec.PodMetricsEndpoints[0].Port != port.Name {
						t.Errorf("the monitor scrapes other pods, or another port: %s", diff)
					}
				}
			}
			checkVolumes(t, pod.Spec, only[*corev1.ConfigMap](t, all))
		})
	}
}

// checkVolumes holds that each volume is mounted where the configuration looks.
func checkVolumes(t *testing.T, pod corev1.PodSpec, config *corev1.ConfigMap) {
	t.Helper()
	at := map[string]string{}
	for _, m := range pod.Containers[0].VolumeMounts {
		at[m.Name] = m.MountPath
	}
	for _, v := range pod.Volumes {
		switch {
		case at[v.Name] == "":
			t.Errorf("%s is not mounted", v.Name)
		case v.ConfigMap != nil && (v.ConfigMap.Name != config.Name || !slices.Equal(pod.Containers[0].Args, []string{"--config", at[v.Name] + "/config.yaml"})):
			t.Errorf("%s is mounted at %s, the program reads %v", v.ConfigMap.Name, at[v.Name], pod.Containers[0].Args)
		case v.Secret != nil && !strings.Contains(config.Data["config.yaml"], at[v.Name]+"/"):
			t.Errorf("nothing reads %s at %s", v.Secret.SecretName, at[v.Name])
		}
	}
	if len(at) != len(pod.Volumes) {
		t.Errorf("%d mounts of %d volumes", len(at), len(pod.Volumes))
	}
}
