//go:build unix

package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/leaderscope/leaderscope/examples/internal/stage"
	"github.com/leaderscope/leaderscope/examples/internal/stage/etcd"
)

// cluster is a kube-apiserver on the loopback, over an etcd inside this
// process.
type cluster struct {
	etcd       *etcd.Server
	server     *stage.Server
	kubeconfig string // a file
}

func startCluster(ctx context.Context, binary string) (*cluster, error) {
	storage, err := etcd.Start()
	if err != nil {
		return nil, err
	}
	c := &cluster{etcd: storage}
	if c.server, err = stage.Program(ctx, binary, c.prepare, c.answers); err != nil {
		return nil, errors.Join(err, storage.Close())
	}
	return c, nil
}

func (c *cluster) close() error { return errors.Join(c.server.Close(), c.etcd.Close()) }

// prepare writes a key, a token and a kubeconfig, and returns the command line.
func (c *cluster) prepare(dir, port string) (args []string, err error) {
	address := "https://127.0.0.1:" + port
	key, tokens, token := filepath.Join(dir, "sa.key"), filepath.Join(dir, "tokens.csv"), rand.Text()
	if err := writeKey(key); err != nil {
		return nil, err
	}
	if err := os.WriteFile(tokens, []byte(token+",admin,1,system:masters\n"), 0o600); err != nil {
		return nil, err
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["local"] = &clientcmdapi.Cluster{Server: address, CertificateAuthority: filepath.Join(dir, "apiserver.crt")}
	config.AuthInfos["admin"] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts["local"] = &clientcmdapi.Context{Cluster: "local", AuthInfo: "admin"}
	config.CurrentContext = "local"
	c.kubeconfig = filepath.Join(dir, "kubeconfig")
	if err := clientcmd.WriteToFile(*config, c.kubeconfig); err != nil {
		return nil, err
	}
	return []string{
		"--etcd-servers=http://" + c.etcd.Address(), "--cert-dir=" + dir,
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--secure-port=" + port,
		"--service-account-issuer=" + address, "--service-account-key-file=" + key,
		"--service-account-signing-key-file=" + key, "--token-auth-file=" + tokens,
		"--authorization-mode=AlwaysAllow", "--service-cluster-ip-range=10.0.0.0/24",
		"--disable-admission-plugins=ServiceAccount", "--endpoint-reconciler-type=none",
	}, nil
}

// answers also asks for the namespace, which is made a little later.
func (c *cluster) answers(ctx context.Context) error {
	client, err := connect(c.kubeconfig) // the certificate is written by the server
	if err != nil {
		return err
	}
	if err := client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error(); err != nil {
		return err
	}
	_, err = client.CoreV1().Namespaces().Get(ctx, metav1.NamespaceDefault, metav1.GetOptions{})
	return err
}

func writeKey(file string) error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	return os.WriteFile(file, pem.EncodeToMemory(block), 0o600)
}
