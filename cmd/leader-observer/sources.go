package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/leaderscope/leaderscope/cmd/leader-observer/internal/config"
	"github.com/leaderscope/leaderscope/cmd/leader-observer/internal/etcd"
	"github.com/leaderscope/leaderscope/cmd/leader-observer/internal/kube"
	"github.com/leaderscope/leaderscope/cmd/leader-observer/internal/observe"
	"github.com/leaderscope/leaderscope/instrument"
)

// dialTimeout bounds connecting to a backend.
const dialTimeout = 5 * time.Second

// sourcesOf creates the configured sources. stop closes their clients; it may be
// called after an error as well.
func sourcesOf(c config.Config, m *instrument.Middleware, log *slog.Logger) (all []source, stop func(), err error) {
	var closers []func()
	stop = func() {
		for _, closes := range closers {
			closes()
		}
	}
	health := map[string]*observe.Health{}
	backend := func(name string) *observe.Backend {
		if health[name] == nil {
			health[name] = observe.NewHealth(m, name)
		}
		return observe.New(health[name], observe.Options{ForgetAfter: c.ForgetAfter, Logger: log})
	}
	for i := range c.Kubernetes {
		made, err := kubernetesSources(c.Kubernetes[i], backend)
		if err != nil {
			return nil, stop, err
		}
		all = append(all, made...)
	}
	for i := range c.Etcd {
		made, closes, err := etcdSources(c.Etcd[i], backend)
		closers = append(closers, closes)
		if err != nil {
			return nil, stop, err
		}
		all = append(all, made...)
	}
	others, err := otherSources(c, backend)
	return append(all, others...), stop, err
}

func kubernetesSources(k config.Kubernetes, backend func(string) *observe.Backend) (all []source, err error) {
	cluster, err := clusterOf(k)
	if err != nil {
		return nil, err
	}
	for _, namespace := range k.Namespaces {
		b := backend(k.Name)
		s, err := kube.Source{
			Namespace: namespace, LabelSelector: k.LabelSelector, Names: k.Names, WithSystem: k.WithSystem, LockName: k.LockName,
		}.Watch(cluster, b)
		if err != nil {
			return nil, err
		}
		all = append(all, source{b, s.Run})
	}
	return all, nil
}

// clusterOf returns the cluster that the process runs in, unless a kubeconfig is
// configured or the process runs outside a cluster.
func clusterOf(k config.Kubernetes) (*rest.Config, error) {
	if k.Kubeconfig == "" && k.Context == "" {
		c, err := rest.InClusterConfig()
		if err == nil || !errors.Is(err, rest.ErrNotInCluster) {
			return c, err
		}
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = k.Kubeconfig
	c, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: k.Context}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("find the cluster of %q: %w; run in a pod, or set kubeconfig", k.Name, err)
	}
	return c, nil
}

func etcdSources(e config.Etcd, backend func(string) *observe.Backend) (all []source, stop func(), err error) {
	stop = func() {}
	c := clientv3.Config{
		Endpoints: e.Endpoints, Username: e.Username, DialTimeout: dialTimeout,
		DialKeepAliveTime: 10 * time.Second, DialKeepAliveTimeout: dialTimeout, Logger: zap.NewNop(),
	}
	if e.PasswordFile != "" {
		password, err := os.ReadFile(e.PasswordFile)
		if err != nil {
			return nil, stop, fmt.Errorf("read the password of %q: %w", e.Name, err)
		}
		c.Password = strings.TrimRight(string(password), "\r\n")
	}
	if c.TLS, err = tlsOf(e); err != nil {
		return nil, stop, err
	}
	for _, prefix := range e.Prefixes {
		// A client for each watch: it has one stream, and a question how far
		// the watch is has an answer only if no other one is behind. With a
		// password it asks the server at once, which may be away.
		b := backend(e.Name)
		watched := etcd.Source{Prefix: prefix, Connect: func() (*clientv3.Client, error) { return clientv3.New(c) }}.Watch(b)
		before := stop
		stop = func() { before(); watched.Close() }
		all = append(all, source{b, watched.Run})
	}
	return all, stop, nil
}

func tlsOf(e config.Etcd) (*tls.Config, error) {
	if e.CAFile == "" && e.CertFile == "" {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if e.CAFile != "" {
		pem, err := os.ReadFile(e.CAFile)
		if err != nil {
			return nil, fmt.Errorf("read the certificate authority of %q: %w", e.Name, err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("caFile of %q contains no certificate; write certificates in PEM", e.Name)
		}
	}
	if e.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(e.CertFile, e.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("read the certificate of %q: %w", e.Name, err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
