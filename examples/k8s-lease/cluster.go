//go:build unix

package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// apiServer is a kube-apiserver on the loopback, over an etcd inside this
// process. It can be stopped and started again with what it has stored.
type apiServer struct {
	binary     string
	dir        string
	kubeconfig string // a file
	address    string
	args       []string

	etcd *embed.Etcd
	cmd  *exec.Cmd
	done chan struct{}
}

// startAPIServer keeps everything below dir. What it returns must be closed,
// also beside an error.
func startAPIServer(ctx context.Context, binary, dir string) (*apiServer, error) {
	s := &apiServer{binary: binary, dir: dir, kubeconfig: filepath.Join(dir, "kubeconfig")}
	if err := s.startEtcd(); err != nil {
		return s, fmt.Errorf("start etcd: %w", err)
	}
	if err := s.prepare(); err != nil {
		return s, err
	}
	return s, s.start(ctx)
}

func (s *apiServer) startEtcd() error {
	cfg := embed.NewConfig()
	cfg.Dir = filepath.Join(s.dir, "etcd")
	cfg.LogLevel = "fatal" // at "error", closing prints stack traces
	cfg.UnsafeNoFsync = true
	any := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = any, any
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = any, any
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	etcd, err := embed.StartEtcd(cfg)
	if err != nil {
		return err
	}
	s.etcd = etcd
	select {
	case <-etcd.Server.ReadyNotify():
		return nil
	case <-time.After(patience):
		return errors.New("it is not ready after " + patience.String())
	}
}

// prepare writes a key, a token and a kubeconfig, and chooses a port.
func (s *apiServer) prepare() error {
	port, err := freePort()
	if err != nil {
		return err
	}
	s.address = "https://127.0.0.1:" + port
	key, tokens, token := filepath.Join(s.dir, "sa.key"), filepath.Join(s.dir, "tokens.csv"), rand.Text()
	if err := writeKey(key); err != nil {
		return err
	}
	if err := os.WriteFile(tokens, []byte(token+",admin,1,system:masters\n"), 0o600); err != nil {
		return err
	}
	s.args = []string{
		"--etcd-servers=http://" + s.etcd.Clients[0].Addr().String(), "--cert-dir=" + s.dir,
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--secure-port=" + port,
		"--service-account-issuer=" + s.address, "--service-account-key-file=" + key,
		"--service-account-signing-key-file=" + key, "--token-auth-file=" + tokens,
		"--authorization-mode=AlwaysAllow", "--service-cluster-ip-range=10.0.0.0/24",
		"--disable-admission-plugins=ServiceAccount", "--endpoint-reconciler-type=none",
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["local"] = &clientcmdapi.Cluster{Server: s.address, CertificateAuthority: filepath.Join(s.dir, "apiserver.crt")}
	config.AuthInfos["admin"] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts["local"] = &clientcmdapi.Context{Cluster: "local", AuthInfo: "admin"}
	config.CurrentContext = "local"
	return clientcmd.WriteToFile(*config, s.kubeconfig)
}

// start runs the process and waits until it answers.
func (s *apiServer) start(ctx context.Context) error {
	output := filepath.Join(s.dir, "output.log")
	log, err := os.OpenFile(output, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(s.binary, s.args...)
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = log, log, ownGroup()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", s.binary, err)
	}
	s.cmd, s.done = cmd, make(chan struct{})
	go func() {
		_ = cmd.Wait() // it is killed in the end
		close(s.done)
	}()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := s.answers(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-s.done:
			return fmt.Errorf("%s ended; it said last: %s", s.binary, lastLine(output))
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w", s.binary, err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// answers also asks for the namespace, which is made a little later.
func (s *apiServer) answers(ctx context.Context) error {
	client, err := connect(s.kubeconfig) // the certificate is written by the server
	if err != nil {
		return err
	}
	if err := client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error(); err != nil {
		return err
	}
	_, err = client.CoreV1().Namespaces().Get(ctx, metav1.NamespaceDefault, metav1.GetOptions{})
	return err
}

// stop ends the server as kill -9 does; what it stored is in etcd.
func (s *apiServer) stop() {
	if s.cmd != nil {
		_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
		<-s.done
		s.cmd = nil
	}
}

func (s *apiServer) close() {
	s.stop()
	if s.etcd != nil {
		s.etcd.Server.HardStop()
		s.etcd.Close()
		s.etcd = nil
	}
}

func writeKey(file string) error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	return os.WriteFile(file, pem.EncodeToMemory(block), 0o600)
}

// freePort is a port that was free a moment ago.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}

func lastLine(file string) string {
	text, _ := os.ReadFile(file)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}
