package deploy

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/yannh/kubeconform/pkg/resource"
	"github.com/yannh/kubeconform/pkg/validator"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kustomize/kyaml/openapi"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	"sigs.k8s.io/yaml"
)

// decoded reads an object into the type of its API, strictly.
func decoded(document []byte) (metav1.Object, error) {
	var kind metav1.TypeMeta
	if err := yaml.Unmarshal(document, &kind); err != nil {
		return nil, err
	}
	object, known := map[string]metav1.Object{
		"v1 Namespace": &corev1.Namespace{}, "v1 ServiceAccount": &corev1.ServiceAccount{}, "v1 ConfigMap": &corev1.ConfigMap{}, "v1 Service": &corev1.Service{},
		"rbac.authorization.k8s.io/v1 ClusterRole": &rbacv1.ClusterRole{}, "rbac.authorization.k8s.io/v1 ClusterRoleBinding": &rbacv1.ClusterRoleBinding{},
		"rbac.authorization.k8s.io/v1 Role": &rbacv1.Role{}, "rbac.authorization.k8s.io/v1 RoleBinding": &rbacv1.RoleBinding{},
		"apps/v1 Deployment":                      &appsv1.Deployment{},
		"monitoring.coreos.com/v1 PodMonitor":     &monitoring.PodMonitor{},
		"monitoring.coreos.com/v1 ServiceMonitor": &monitoring.ServiceMonitor{},
		"monitoring.coreos.com/v1 PrometheusRule": &monitoring.PrometheusRule{},
	}[kind.APIVersion+" "+kind.Kind]
	if !known {
		return nil, fmt.Errorf("unexpected %s of %s", kind.Kind, kind.APIVersion)
	}
	return object, yaml.UnmarshalStrict(document, object)
}

// schemas writes the schemas of Kubernetes that Kustomize carries, in the form
// that kubeconform reads, so that no test needs the network. They are older than
// the types: what is newer than they are must not be used, which keeps old
// clusters working.
func schemas(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	all := map[string]any{}
	text, err := json.Marshal(openapi.Schema().Definitions)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil || len(all) == 0 {
		t.Fatalf("no schemas: %v", err)
	}
	for name, definition := range all {
		d := definition.(map[string]any)
		if strings.HasSuffix(name, ".IntOrString") {
			all[name] = map[string]any{"type": []string{"string", "integer"}}
		} else if _, has := d["properties"]; has {
			d["additionalProperties"] = false
		}
	}
	write := func(name string, content any) {
		text, err := json.Marshal(content)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write("definitions.json", map[string]any{"definitions": all})
	for file, kind := range map[string]kyaml.TypeMeta{
		"namespace-v1":               {APIVersion: "v1", Kind: "Namespace"},
		"serviceaccount-v1":          {APIVersion: "v1", Kind: "ServiceAccount"},
		"service-v1":                 {APIVersion: "v1", Kind: "Service"},
		"configmap-v1":               {APIVersion: "v1", Kind: "ConfigMap"},
		"deployment-apps-v1":         {APIVersion: "apps/v1", Kind: "Deployment"},
		"role-rbac-v1":               {APIVersion: "rbac.authorization.k8s.io/v1", Kind: "Role"},
		"rolebinding-rbac-v1":        {APIVersion: "rbac.authorization.k8s.io/v1", Kind: "RoleBinding"},
		"clusterrole-rbac-v1":        {APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole"},
		"clusterrolebinding-rbac-v1": {APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRoleBinding"},
	} {
		group := map[string]string{"v1": "core.v1", "apps/v1": "apps.v1", "rbac.authorization.k8s.io/v1": "rbac.v1"}[kind.APIVersion]
		name := "io.k8s.api." + group + "." + kind.Kind
		if all[name] == nil {
			t.Fatalf("no schema %s", name)
		}
		write(file+".json", map[string]any{"$ref": "definitions.json#/definitions/" + name})
	}
	return dir
}

// conformist is kubeconform, strict; it skips the kinds of the operator.
func conformist(t *testing.T) validator.Validator {
	t.Helper()
	v, err := validator.New([]string{schemas(t) + "/{{ .ResourceKind }}{{ .KindSuffix }}.json"}, validator.Opts{
		Strict: true, SkipKinds: map[string]struct{}{"PodMonitor": {}, "ServiceMonitor": {}, "PrometheusRule": {}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestEveryObjectIsValid(t *testing.T) {
	v := conformist(t)
	for name, render := range renderings {
		t.Run(name, func(t *testing.T) {
			for _, document := range rendered(t, render) {
				if _, err := decoded(document); err != nil {
					t.Errorf("%v in:\n%s", err, document)
				}
				if r := v.ValidateResource(resource.Resource{Bytes: document}); r.Status != validator.Valid && r.Status != validator.Skipped {
					t.Errorf("%v in:\n%s", r.Err, document)
				}
			}
		})
	}
}

// What the two checks are worth: each refuses what Kubernetes would.
func TestWhatIsNotValidIsFound(t *testing.T) {
	v := conformist(t)
	for name, document := range map[string]string{
		"an unknown field": "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: x}\nautomount: true\n",
		"another type":     "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\nspec: {replicas: two, selector: {}, template: {}}\n",
	} {
		if _, err := decoded([]byte(document)); err == nil {
			t.Errorf("%s: decoded", name)
		}
		if r := v.ValidateResource(resource.Resource{Bytes: []byte(document)}); r.Status != validator.Invalid {
			t.Errorf("%s: %v", name, r.Status)
		}
	}
	const without = "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: x}\nsubjects: []\n"
	if r := v.ValidateResource(resource.Resource{Bytes: []byte(without)}); r.Status != validator.Invalid {
		t.Errorf("a binding without a role: %v", r.Status)
	}
}
