package server

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// KubernetesToken is the bearer token that startKubernetes' server takes for
// an administrator's.
const KubernetesToken = "leaderscope"

// startKubernetes runs the kube-apiserver that the script built, over an etcd
// of its own.
func startKubernetes() (Server, error) {
	path, ok := cached("kube-apiserver-*/kube-apiserver")
	if !ok {
		return nil, fmt.Errorf("%w: no kube-apiserver under .cache; scripts/build-kube-apiserver builds it", ErrMissing)
	}
	dir, port, err := place("kube-apiserver")
	if err != nil {
		return nil, err
	}
	key, tokens := filepath.Join(dir, "sa.key"), filepath.Join(dir, "tokens.csv")
	if err := writeKey(key); err != nil {
		return nil, err
	}
	if err := os.WriteFile(tokens, []byte(KubernetesToken+",admin,1,system:masters\n"), 0o600); err != nil {
		return nil, err
	}
	store, err := startEtcd(1)
	if err != nil {
		return nil, fmt.Errorf("etcd: %w", err)
	}
	address := "127.0.0.1:" + port
	return run(&daemon{
		version: strings.TrimPrefix(says(1, path, "--version"), "v"), address: address, dir: dir, stop: syscall.SIGKILL, also: store.Close,
		ready: healthy("https://" + address + "/readyz"),
		command: func() *exec.Cmd {
			return exec.Command(path, "--etcd-servers=http://"+store.Addresses()[0], "--cert-dir="+dir,
				"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--secure-port="+port,
				"--service-account-issuer=https://"+address, "--service-account-key-file="+key,
				"--service-account-signing-key-file="+key, "--token-auth-file="+tokens,
				"--authorization-mode=RBAC", "--service-cluster-ip-range=10.0.0.0/24",
				"--disable-admission-plugins=ServiceAccount", "--endpoint-reconciler-type=none")
		},
	})
}

func writeKey(file string) error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	return os.WriteFile(file, pem.EncodeToMemory(block), 0o600)
}

// healthy is ready when the page answers 200. The certificate is the server's
// own.
func healthy(page string) func(context.Context) error {
	client := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true,
	}}
	return func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+KubernetesToken)
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %s", page, resp.Status)
		}
		return nil
	}
}
