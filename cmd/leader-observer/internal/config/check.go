package config

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/leaderscope/leaderscope/redact"
)

// The policies of redaction, as the file names them.
var policies = []string{redact.PolicyRaw, redact.PolicyHash, redact.PolicyConstant}

// check returns the first error of a configuration.
func (c *Config) validate() error {
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		return fault{"listen", fmt.Sprintf("%q is not a valid address; write host:port, such as 127.0.0.1:9713", c.Listen)}
	}
	if c.ForgetAfter < 0 {
		return fault{"forgetAfter", "is negative; use 0 to keep locks whose record is gone forever"}
	}
	if c.MaxLocks < 1 {
		return fault{"maxLocks", fmt.Sprintf("is %d; use at least 1", c.MaxLocks)}
	}
	if err := c.Redaction.check(); err != nil {
		return err
	}
	if len(c.Kubernetes)+len(c.Etcd)+len(c.Postgres)+len(c.Redis)+len(c.NATS)+len(c.ZooKeeper) == 0 {
		return fault{"", "no backend is configured; add kubernetes, etcd, postgres, redis, nats or zookeeper"}
	}
	for _, check := range []func() error{c.names, c.kubernetes, c.etcd, c.postgres, c.redis, c.nats, c.zookeeper} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// shortest is the shortest poll interval.
const shortest = 100 * time.Millisecond

func every(path string, d time.Duration) error {
	if d < shortest {
		return fault{path + ".every", fmt.Sprintf("is %v; use at least %v", d, shortest)}
	}
	return nil
}

func (c *Config) postgres() error {
	for i, p := range c.Postgres {
		path := fmt.Sprintf("postgres[%d]", i)
		switch {
		case p.URLFile == "":
			return fault{path + ".urlFile", "is missing; name a file that contains the URL, such as postgres://observer@db/app"}
		case len(p.Locks) == 0:
			return fault{path + ".locks", "is missing; list each advisory lock with a name and its key"}
		}
		for n, l := range p.Locks {
			if l.Name == "" || l.Key == nil {
				return fault{fmt.Sprintf("%s.locks[%d]", path, n), "needs a name, and the key that is passed to pg_advisory_lock(key)"}
			}
		}
		if err := every(path, p.Every); err != nil {
			return err
		}
	}
	return nil
}

func (c *Config) redis() error {
	for i, r := range c.Redis {
		path := fmt.Sprintf("redis[%d]", i)
		switch {
		case r.Address == "":
			return fault{path + ".address", "is missing; write host:port, such as redis:6379"}
		case len(r.Keys) == 0:
			return fault{path + ".keys", "is missing; list the keys of the locks"}
		}
		if err := every(path, r.Every); err != nil {
			return err
		}
	}
	return nil
}

func (c *Config) nats() error {
	for i, n := range c.NATS {
		path := fmt.Sprintf("nats[%d]", i)
		switch {
		case n.URL == "":
			return fault{path + ".url", "is missing; write the address of a server, such as nats://nats:4222"}
		case n.Bucket == "":
			return fault{path + ".bucket", "is missing; name the key-value bucket of the locks"}
		}
	}
	return nil
}

func (c *Config) zookeeper() error {
	for i, z := range c.ZooKeeper {
		path := fmt.Sprintf("zookeeper[%d]", i)
		switch {
		case len(z.Servers) == 0:
			return fault{path + ".servers", "is missing; list at least one server, such as zookeeper:2181"}
		case len(z.Paths) == 0:
			return fault{path + ".paths", "is missing; list the parent nodes of the candidates"}
		case z.Timeout < time.Second:
			return fault{path + ".timeout", fmt.Sprintf("is %v; use at least 1s, the shortest session timeout", z.Timeout)}
		}
		for n, p := range z.Paths {
			if !strings.HasPrefix(p, "/") || strings.HasSuffix(p, "/") {
				return fault{fmt.Sprintf("%s.paths[%d]", path, n), fmt.Sprintf("%q is not a valid node path; write it with a slash at its start and none at its end", p)}
			}
		}
	}
	return nil
}

func (r *Redaction) check() error {
	switch {
	case r.Policy == "":
		return fault{"redaction.policy", "is missing; use raw (names as they are), hash (with keyFile and keyID) or constant (one label for all names)"}
	case !slices.Contains(policies, r.Policy):
		return fault{"redaction.policy", fmt.Sprintf("unknown policy %q; valid policies: %s", r.Policy, strings.Join(policies, ", "))}
	case r.Policy == redact.PolicyHash && (r.KeyFile == "" || r.KeyID == ""):
		return fault{"redaction", "policy hash needs keyFile and keyID; use those of the programs that campaign"}
	case r.Policy != redact.PolicyHash && r.KeyFile != "":
		return fault{"redaction.keyFile", fmt.Sprintf("is not used by policy %s; remove it, or use policy hash", r.Policy)}
	}
	return nil
}

// names are those of the backends, each of which has its own.
func (c *Config) names() error {
	taken := map[string]bool{}
	check := func(kind string, n int, name func(int) string) error {
		for i := range n {
			if taken[name(i)] {
				return fault{fmt.Sprintf("%s[%d]", kind, i), fmt.Sprintf("duplicate name %q; give each backend a name of its own", name(i))}
			}
			taken[name(i)] = true
		}
		return nil
	}
	return cmp.Or(
		check("kubernetes", len(c.Kubernetes), func(i int) string { return c.Kubernetes[i].Name }),
		check("etcd", len(c.Etcd), func(i int) string { return c.Etcd[i].Name }),
		check("postgres", len(c.Postgres), func(i int) string { return c.Postgres[i].Name }),
		check("redis", len(c.Redis), func(i int) string { return c.Redis[i].Name }),
		check("nats", len(c.NATS), func(i int) string { return c.NATS[i].Name }),
		check("zookeeper", len(c.ZooKeeper), func(i int) string { return c.ZooKeeper[i].Name }),
	)
}

func (c *Config) kubernetes() error {
	for i, k := range c.Kubernetes {
		path := fmt.Sprintf("kubernetes[%d]", i)
		if !strings.Contains(k.LockName, "{name}") {
			return fault{path + ".lockName", fmt.Sprintf("%q lacks {name}, so several leases would be one lock; use {namespace} and {name}", k.LockName)}
		}
		if several := len(k.Namespaces) != 1 || k.Namespaces[0] == ""; several && len(k.Names) == 0 && !strings.Contains(k.LockName, "{namespace}") {
			return fault{path + ".lockName", fmt.Sprintf("%q lacks {namespace}, so leases with the same name would be one lock; add it, or configure a single namespace", k.LockName)}
		}
	}
	return nil
}

func (c *Config) etcd() error {
	for i, e := range c.Etcd {
		path := fmt.Sprintf("etcd[%d]", i)
		switch {
		case len(e.Endpoints) == 0:
			return fault{path + ".endpoints", "is missing; list at least one, such as https://etcd:2379"}
		case len(e.Prefixes) == 0:
			return fault{path + ".prefixes", "is missing; list the prefixes of elections and mutexes, such as /elections/"}
		case (e.CertFile == "") != (e.KeyFile == ""):
			return fault{path, "has only one of certFile and keyFile; a client certificate needs both"}
		case (e.Username == "") != (e.PasswordFile == ""):
			return fault{path, "has only one of username and passwordFile; set both"}
		}
		for n, prefix := range e.Prefixes {
			if prefix == "" {
				return fault{fmt.Sprintf("%s.prefixes[%d]", path, n), "is empty, which matches every key; write the prefix of the elections"}
			}
		}
	}
	return nil
}

// Check sets defaults and returns the first error of a configuration that does not
// come from a file.
func (c *Config) Check() error {
	c.fill()
	if err := c.validate(); err != nil {
		return at(&ast.File{}, err)
	}
	return nil
}
