package config

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/leaderscope/leaderscope/redact"
)

// The policies of redaction, as the file names them.
var policies = []string{redact.PolicyRaw, redact.PolicyHash, redact.PolicyConstant}

// check returns the first thing that is wrong.
func (c *Config) validate() error {
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		return fault{"listen", fmt.Sprintf("%q is no address; write host:port, such as 127.0.0.1:9713", c.Listen)}
	}
	if c.ForgetAfter < 0 {
		return fault{"forgetAfter", "is below 0; 0 keeps locks whose record is gone for ever"}
	}
	if c.MaxLocks < 1 {
		return fault{"maxLocks", fmt.Sprintf("is %d; at least 1 lock needs a label", c.MaxLocks)}
	}
	if err := c.Redaction.check(); err != nil {
		return err
	}
	if len(c.Kubernetes)+len(c.Etcd) == 0 {
		return fault{"", "nothing is watched; add kubernetes or etcd"}
	}
	return c.sources()
}

func (r *Redaction) check() error {
	switch {
	case r.Policy == "":
		return fault{"redaction.policy", "is not set; choose raw (names as they are), hash (with keyFile and keyID) or constant (one label for all)"}
	case !slices.Contains(policies, r.Policy):
		return fault{"redaction.policy", fmt.Sprintf("unknown policy %q; valid policies: %s", r.Policy, strings.Join(policies, ", "))}
	case r.Policy == redact.PolicyHash && (r.KeyFile == "" || r.KeyID == ""):
		return fault{"redaction", "hash needs keyFile and keyID, those of the programs that campaign"}
	case r.Policy != redact.PolicyHash && r.KeyFile != "":
		return fault{"redaction.keyFile", fmt.Sprintf("has no use with the policy %s; remove it, or choose hash", r.Policy)}
	}
	return nil
}

func (c *Config) sources() error {
	names := map[string]bool{}
	named := func(path, name string) error {
		if names[name] {
			return fault{path, fmt.Sprintf("the name %q is taken by another backend; give each a name of its own", name)}
		}
		names[name] = true
		return nil
	}
	for i, k := range c.Kubernetes {
		path := fmt.Sprintf("kubernetes[%d]", i)
		if err := named(path, k.Name); err != nil {
			return err
		}
		if !strings.Contains(k.LockName, "{name}") {
			return fault{path + ".lockName", fmt.Sprintf("%q lacks {name}, so that several leases would be one lock; use {namespace} and {name}", k.LockName)}
		}
		if several := len(k.Namespaces) != 1 || k.Namespaces[0] == ""; several && len(k.Names) == 0 && !strings.Contains(k.LockName, "{namespace}") {
			return fault{path + ".lockName", fmt.Sprintf("%q lacks {namespace}, so that leases of one name would be one lock; add it, or name one namespace", k.LockName)}
		}
	}
	for i, e := range c.Etcd {
		path := fmt.Sprintf("etcd[%d]", i)
		switch err := named(path, e.Name); {
		case err != nil:
			return err
		case len(e.Endpoints) == 0:
			return fault{path + ".endpoints", "is missing; name at least one, such as https://etcd:2379"}
		case len(e.Prefixes) == 0:
			return fault{path + ".prefixes", "is missing; name what elections and mutexes are below, such as /elections/"}
		case (e.CertFile == "") != (e.KeyFile == ""):
			return fault{path, "has one of certFile and keyFile; a client certificate needs both"}
		case (e.Username == "") != (e.PasswordFile == ""):
			return fault{path, "has one of username and passwordFile; both are needed"}
		}
		for n, prefix := range e.Prefixes {
			if prefix == "" {
				return fault{fmt.Sprintf("%s.prefixes[%d]", path, n), "is empty, which is every key; name what elections are below"}
			}
		}
	}
	return nil
}

// Check fills in what is not said, and returns what is wrong with a
// configuration that no file says.
func (c *Config) Check() error {
	c.fill()
	if err := c.validate(); err != nil {
		return at(&ast.File{}, err)
	}
	return nil
}
