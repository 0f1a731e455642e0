//go:build integration

package observer

import (
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/leaderscope/leaderscope/test/deploy"
)

// resources are those of the kinds that the manifests have. The kinds of the
// operator are not there without it.
var resources = map[string]string{
	"Namespace": "namespaces", "ServiceAccount": "serviceaccounts", "ConfigMap": "configmaps", "Deployment": "deployments",
	"Role": "roles", "RoleBinding": "rolebindings", "ClusterRole": "clusterroles", "ClusterRoleBinding": "clusterrolebindings",
}

// apply creates the objects; the server refuses a field that it does not know.
// It returns the configuration of the observer.
func (c *cluster) apply(t *testing.T, documents [][]byte) (config string) {
	t.Helper()
	client, err := dynamic.NewForConfig(c.config)
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range documents {
		var o unstructured.Unstructured
		if err := yaml.Unmarshal(document, &o.Object); err != nil {
			t.Fatal(err)
		}
		if o.GroupVersionKind().Group == "monitoring.coreos.com" {
			continue
		}
		kind := o.GroupVersionKind()
		of := client.Resource(schema.GroupVersionResource{Group: kind.Group, Version: kind.Version, Resource: resources[kind.Kind]})
		_, err := of.Namespace(o.GetNamespace()).Create(t.Context(), &o, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
		if err != nil && (kind.Kind != "Namespace" || !apierrors.IsAlreadyExists(err)) {
			t.Fatalf("%s %s: %v", kind.Kind, o.GetName(), err)
		}
		if kind.Kind == "ConfigMap" {
			config, _, _ = unstructured.NestedString(o.Object, "data", "config.yaml")
		}
	}
	return config
}

func (c *cluster) namespace(t *testing.T, name string) {
	t.Helper()
	_, err := c.clients.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
}

// The manifests grant exactly the rights that their configuration needs.
func TestTheManifestsAreEnoughAndNoMore(t *testing.T) {
	for name, c := range map[string]struct {
		render func() ([][]byte, error)
		// of the leases of two namespaces, those that are seen
		first, second bool
	}{
		"the chart":                    {func() ([][]byte, error) { return deploy.Helm("") }, true, true},
		"the chart for two namespaces": {func() ([][]byte, error) { return deploy.Helm("kubernetes: {namespaces: [default, other]}") }, true, true},
		"one namespace":                {func() ([][]byte, error) { return deploy.Kustomize(deploy.Base + "/one-namespace") }, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			documents, err := c.render()
			if err != nil {
				t.Fatal(err)
			}
			server := newServer(t)
			server.namespace(t, deploy.Name) // helm install --create-namespace
			server.namespace(t, "other")
			holder, length := "a", int32(600)
			for _, namespace := range []string{"default", "other"} {
				if _, err := server.clients.CoordinationV1().Leases(namespace).Create(t.Context(), &coordinationv1.Lease{
					ObjectMeta: metav1.ObjectMeta{Name: "lease"}, Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &length},
				}, metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			config := server.apply(t, documents)
			token, err := server.clients.CoreV1().ServiceAccounts(deploy.Name).CreateToken(t.Context(), deploy.Name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			p := run(t, config, "KUBECONFIG="+server.kubeconfig(t, token.Status.Token))
			p.waitUntilReady(t)
			for lock, want := range map[string]bool{"default/lease": c.first, "other/lease": c.second} {
				if _, got := p.lock(t, "kubernetes", lock); (got == holder) != want {
					t.Errorf("the holder of %s is %q", lock, got)
				}
			}
			refused(t, &rest.Config{Host: server.config.Host, BearerToken: token.Status.Token, TLSClientConfig: server.config.TLSClientConfig}, c.second)
		})
	}
}

// refused holds that the account of the observer may do nothing but read.
func refused(t *testing.T, config *rest.Config, cluster bool) {
	t.Helper()
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	leases := clients.CoordinationV1().Leases("default")
	l, err := leases.Get(t.Context(), "lease", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, update := leases.Update(t.Context(), l, metav1.UpdateOptions{})
	_, pods := clients.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	_, secrets := clients.CoreV1().Secrets("leader-observer").List(t.Context(), metav1.ListOptions{})
	_, other := clients.CoordinationV1().Leases("other").Get(t.Context(), "lease", metav1.GetOptions{})
	for what, err := range map[string]error{
		"update a lease": update, "delete a lease": leases.Delete(t.Context(), "lease", metav1.DeleteOptions{}), "list pods": pods, "list secrets": secrets,
	} {
		if !apierrors.IsForbidden(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if cluster == (other != nil && strings.Contains(other.Error(), "forbidden")) {
		t.Errorf("read a lease of another namespace: %v", other)
	}
}
