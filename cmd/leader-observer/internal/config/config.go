// Package config reads the configuration of leader-observer. Every error names the
// line and the remedy.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Defaults of the poll interval and of the session timeout.
const (
	defaultEvery   = 5 * time.Second
	defaultTimeout = 10 * time.Second
)

// maxSize is the largest configuration that is read.
const maxSize = 1 << 20

// Config is the configuration file.
type Config struct {
	Listen      string        `yaml:"listen"`
	ForgetAfter time.Duration `yaml:"forgetAfter"`
	MaxLocks    int           `yaml:"maxLocks"`
	Redaction   Redaction     `yaml:"redaction"`
	Kubernetes  []Kubernetes  `yaml:"kubernetes"`
	Etcd        []Etcd        `yaml:"etcd"`
	Postgres    []Postgres    `yaml:"postgres"`
	Redis       []Redis       `yaml:"redis"`
	NATS        []NATS        `yaml:"nats"`
	ZooKeeper   []ZooKeeper   `yaml:"zookeeper"`
}

// Redaction sets how names of locks and holders become labels.
type Redaction struct {
	Policy  string `yaml:"policy"`
	KeyFile string `yaml:"keyFile"`
	KeyID   string `yaml:"keyID"`
}

// Kubernetes is a cluster whose Leases are watched.
type Kubernetes struct {
	Name          string   `yaml:"name"`
	Kubeconfig    string   `yaml:"kubeconfig"`
	Context       string   `yaml:"context"`
	Namespaces    []string `yaml:"namespaces"`
	LabelSelector string   `yaml:"labelSelector"`
	Names         []string `yaml:"names"`
	WithSystem    bool     `yaml:"withSystemLeases"`
	LockName      string   `yaml:"lockName"`
}

// Etcd is a cluster whose elections and mutexes are watched.
type Etcd struct {
	Name         string   `yaml:"name"`
	Endpoints    []string `yaml:"endpoints"`
	Prefixes     []string `yaml:"prefixes"`
	Username     string   `yaml:"username"`
	PasswordFile string   `yaml:"passwordFile"`
	CAFile       string   `yaml:"caFile"`
	CertFile     string   `yaml:"certFile"`
	KeyFile      string   `yaml:"keyFile"`
}

// Postgres is a database whose advisory locks are polled.
type Postgres struct {
	Name    string         `yaml:"name"`
	URLFile string         `yaml:"urlFile"`
	Every   time.Duration  `yaml:"every"`
	Locks   []PostgresLock `yaml:"locks"`
}

// PostgresLock is an advisory lock by its key.
type PostgresLock struct {
	Name string       `yaml:"name"`
	Key  *AdvisoryKey `yaml:"key"`
}

// AdvisoryKey is a key of pg_advisory_lock. All its digits are read: as a YAML
// number it may have been rounded through a float to the key of another lock.
type AdvisoryKey int64

// UnmarshalYAML reads digits, quoted or not.
func (k *AdvisoryKey) UnmarshalYAML(node ast.Node) error {
	t := node.GetToken()
	n, err := strconv.ParseInt(t.Value, 10, 64)
	if err != nil {
		return fmt.Errorf("line %d: key %q is not a 64-bit integer; write the digits of the key, in quotes if a tool changes large numbers", t.Position.Line, t.Value)
	}
	*k = AdvisoryKey(n)
	return nil
}

// Redis is a server whose keys are polled.
type Redis struct {
	Name         string        `yaml:"name"`
	Address      string        `yaml:"address"`
	Username     string        `yaml:"username"`
	PasswordFile string        `yaml:"passwordFile"`
	Database     int           `yaml:"database"`
	TLS          bool          `yaml:"tls"`
	Every        time.Duration `yaml:"every"`
	Keys         []string      `yaml:"keys"`
}

// NATS is a bucket whose keys are watched.
type NATS struct {
	Name            string `yaml:"name"`
	URL             string `yaml:"url"`
	CredentialsFile string `yaml:"credentialsFile"`
	Bucket          string `yaml:"bucket"`
	Keys            string `yaml:"keys"`
}

// ZooKeeper is an ensemble whose queues are watched.
type ZooKeeper struct {
	Name    string        `yaml:"name"`
	Servers []string      `yaml:"servers"`
	Timeout time.Duration `yaml:"timeout"`
	Paths   []string      `yaml:"paths"`
}

// Default returns the defaults of keys that the file does not have.
func Default() Config {
	return Config{Listen: "127.0.0.1:9713", ForgetAfter: time.Hour, MaxLocks: 20000}
}

// Read reads a file.
func Read(name string) (Config, error) {
	f, err := os.Open(name)
	if err != nil {
		return Config{}, fmt.Errorf("read the configuration: %w; name another file with --config", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return Config{}, fmt.Errorf("read the configuration: %w", err)
	}
	c, err := Parse(text)
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", name, err)
	}
	return c, nil
}

// Parse reads a configuration and checks it.
func Parse(text []byte) (Config, error) {
	c := Default()
	if len(text) > maxSize {
		return c, fmt.Errorf("the configuration is larger than the maximum of %d bytes; remove what is not needed", maxSize)
	}
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return c, located(err)
	}
	if err := plain(file); err != nil {
		return c, err
	}
	if len(file.Docs) > 1 {
		return c, errors.New("the file has several YAML documents; keep one")
	}
	if len(file.Docs) == 1 && file.Docs[0].Body != nil {
		if err := yaml.NodeToValue(file.Docs[0].Body, &c, yaml.Strict()); err != nil {
			return c, located(err)
		}
	}
	c.fill()
	if err := c.validate(); err != nil {
		return c, at(file, err)
	}
	return c, nil
}

// located writes an error of the parser on one line.
func located(err error) error {
	var syntax yaml.Error
	if errors.As(err, &syntax) && syntax.GetToken() != nil {
		p := syntax.GetToken().Position
		return fmt.Errorf("line %d, column %d: %s", p.Line, p.Column, syntax.GetMessage())
	}
	return err
}

// plain refuses anchors and aliases, which can expand a few bytes to gigabytes.
func plain(file *ast.File) error {
	var found ast.Node
	for _, d := range file.Docs {
		ast.Walk(visitor(func(n ast.Node) {
			switch n.(type) {
			case *ast.AnchorNode, *ast.AliasNode:
				found = cmp.Or(found, n)
			}
		}), d)
	}
	if found == nil {
		return nil
	}
	return fmt.Errorf("line %d: anchors and aliases are not supported; write the value out", found.GetToken().Position.Line)
}

type visitor func(ast.Node)

func (v visitor) Visit(n ast.Node) ast.Visitor { v(n); return v }

// fault is an error at a place of the file.
type fault struct {
	path, text string
}

func (f fault) Error() string { return f.text }

// at adds the line of a fault, or of the section that lacks the key.
func at(file *ast.File, err error) error {
	var f fault
	if !errors.As(err, &f) || f.path == "" {
		return err
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	for path := f.path; path != ""; path = parent(path) {
		p, bad := yaml.PathString("$." + path)
		if bad != nil {
			break
		}
		if node, bad := p.FilterFile(file); bad == nil && node != nil {
			return fmt.Errorf("line %d: %s: %w", node.GetToken().Position.Line, f.path, err)
		}
	}
	return fmt.Errorf("%s: %w", f.path, err)
}

func parent(path string) string {
	for i := len(path) - 1; i > 0; i-- {
		if path[i] == '.' || path[i] == '[' {
			return path[:i]
		}
	}
	return ""
}

// fill sets the defaults of a source.
func (c *Config) fill() {
	for i := range c.Kubernetes {
		k := &c.Kubernetes[i]
		k.Name, k.LockName = cmp.Or(k.Name, "kubernetes"), cmp.Or(k.LockName, "{namespace}/{name}")
		if len(k.Namespaces) == 0 {
			k.Namespaces = []string{""}
		}
	}
	for i := range c.Etcd {
		c.Etcd[i].Name = cmp.Or(c.Etcd[i].Name, "etcd")
	}
	for i := range c.Postgres {
		p := &c.Postgres[i]
		p.Name, p.Every = cmp.Or(p.Name, "postgres"), cmp.Or(p.Every, defaultEvery)
	}
	for i := range c.Redis {
		r := &c.Redis[i]
		r.Name, r.Every = cmp.Or(r.Name, "redis"), cmp.Or(r.Every, defaultEvery)
	}
	for i := range c.NATS {
		n := &c.NATS[i]
		n.Name, n.Keys = cmp.Or(n.Name, "nats"), cmp.Or(n.Keys, ">")
	}
	for i := range c.ZooKeeper {
		z := &c.ZooKeeper[i]
		z.Name, z.Timeout = cmp.Or(z.Name, "zookeeper"), cmp.Or(z.Timeout, defaultTimeout)
	}
}
