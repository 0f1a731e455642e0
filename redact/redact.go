// Package redact turns lock names into labels that may leave the process.
// It knows names and labels only; which labels exist at once, and their cap,
// is the business of package instrument.
//
// A name is covered by the first matching rule, else by the policy: a
// constant, a keyed hash, or the name itself. A keyed hash is a pseudonym,
// not anonymous: whoever has the key can try names.
package redact

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// The policies, as the mode label of leader_redaction_info.
const (
	ModeConstant = "constant"
	ModeHash     = "hash"
	ModeRaw      = "raw"
)

// Labels that stand for several names. The catalogue lists the same words for
// rules and panels; a test in package instrument holds the two together.
const (
	// Redacted stands for every name that no rule covers.
	Redacted = "redacted"
	// Overflow stands for every name beyond the cap on labels.
	Overflow = "overflow"
	// Wildcard stands for the variable part of a family such as
	// tenant-*/orders; no label of a single name contains it.
	Wildcard = "*"
)

// MinKeySize is the least number of bytes of a hash key.
const MinKeySize = sha256.Size

// ErrKey is wrapped by every error about a key. The key is never in the text.
var ErrKey = errors.New("leaderscope: hash key")

// Label is what stands for a lock name outside the process.
type Label struct {
	// Text is the value of lock_name: valid UTF-8, 1 to 128 bytes.
	Text string
	// Family is the low-cardinality kind of name that a template rule found;
	// empty when there is none.
	Family string
	// Shared reports that several names have this label, so that it must not
	// be judged as one lock.
	Shared bool
}

// Info describes a policy, for leader_redaction_info.
type Info struct {
	// Mode is constant, hash or raw.
	Mode string
	// KeyID names the key in use; empty without one.
	KeyID string
	// KeyCheck is equal for equal keys and tells nothing else of them; empty
	// without a key.
	KeyCheck string
}

// Policy maps names to labels. It is immutable and safe for concurrent use;
// the same name gives the same label for its whole life.
type Policy struct {
	info  Info
	key   []byte
	rules []Rule
	err   error
}

// Constant is the default policy: a name that no rule covers becomes
// "redacted". It needs no key, and nothing of the name gets out. A malformed
// rule is reported by Err.
func Constant(rules ...Rule) *Policy { return newPolicy(Info{Mode: ModeConstant}, rules) }

// Raw publishes names as they are, made valid: at most 128 bytes, no control
// characters, no reserved label. Use it where names are fixed words of the
// program. A malformed rule is reported by Err.
func Raw(rules ...Rule) *Policy { return newPolicy(Info{Mode: ModeRaw}, rules) }

// Hash publishes "<id>:" and 16 hex digits of HMAC-SHA256 over the name. All
// replicas need the same key, at least MinKeySize random bytes, and id, 1 to
// 16 letters, digits, '-' or '_'. Without a proper key there is no policy:
// an unkeyed hash of a guessable name hides nothing, and a key made at start
// would give every replica labels of its own.
//
// The key is bound to this purpose with HKDF, so that the labels cannot be
// compared with other pseudonyms made from the same secret.
func Hash(key []byte, id string, rules ...Rule) (*Policy, error) {
	if len(key) < MinKeySize {
		return nil, fmt.Errorf("%w: %d bytes, want at least %d; make one with: openssl rand -hex 32", ErrKey, len(key), MinKeySize)
	}
	if !validKeyID(id) {
		return nil, fmt.Errorf("%w: key id %q, want 1 to 16 letters, digits, '-' or '_'", ErrKey, id)
	}
	p := newPolicy(Info{Mode: ModeHash, KeyID: id}, rules)
	if p.err != nil {
		return nil, p.err
	}
	var err error
	if p.key, err = derive(key, "leaderscope/lock.name/v1"); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	check, err := derive(key, "leaderscope/key-check/v1")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	p.info.KeyCheck = hex.EncodeToString(check[:4])
	return p, nil
}

func newPolicy(info Info, rules []Rule) *Policy {
	p := &Policy{info: info, rules: rules}
	for _, r := range rules {
		p.err = errors.Join(p.err, r.err)
	}
	return p
}

func derive(key []byte, purpose string) ([]byte, error) {
	return hkdf.Key(sha256.New, key, nil, purpose, sha256.Size)
}

// Err reports malformed rules; nil when the policy can be used.
func (p *Policy) Err() error { return p.err }

// Info describes the policy.
func (p *Policy) Info() Info { return p.info }

// Label returns the label of a name, whatever bytes it is made of. It is
// computed anew each time: callers keep it with the lock.
func (p *Policy) Label(name string) Label {
	for _, r := range p.rules {
		if label, ok := r.label(name); ok {
			return label
		}
	}
	switch p.info.Mode {
	case ModeHash:
		return Label{Text: p.hash(name)}
	case ModeRaw:
		return Label{Text: single(name)}
	default:
		return Label{Text: Redacted, Shared: true}
	}
}

// hash keeps 64 bits: among a million names two collide with a probability of
// 3e-8, and a collision would look like two leaders.
func (p *Policy) hash(name string) string {
	mac := hmac.New(sha256.New, p.key)
	mac.Write([]byte(name))
	var sum [sha256.Size]byte
	return p.info.KeyID + ":" + hex.EncodeToString(mac.Sum(sum[:0])[:8])
}

func validKeyID(id string) bool {
	if len(id) < 1 || len(id) > 16 {
		return false
	}
	for _, c := range []byte(id) {
		word := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
		if !word {
			return false
		}
	}
	return true
}
