// Package redact turns lock names into labels that may leave the process.
// It knows names and labels only; which labels exist at once, and their cap,
// is the business of package instrument.
//
// A name is covered by the first matching rule, else by the policy: a
// constant, a keyed hash, or the name itself. A keyed hash is a pseudonym,
// not anonymous: whoever has the key can try names.
package redact

import (
	"errors"
	"fmt"
	"io"
	"slices"
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
	// SecondaryID and SecondaryCheck are those of the secondary key; empty
	// without one.
	SecondaryID, SecondaryCheck string
}

// Policy maps names to labels. It is immutable and safe for concurrent use;
// the same name gives the same label for its whole life. Printed, it shows
// its Info and no key.
type Policy struct {
	mode               string
	primary, secondary *pseudonyms // nil without the key
	rules              []Rule
	err                error
}

// Constant is the default policy: a name that no rule covers becomes
// "redacted". It needs no key, and nothing of the name gets out. A malformed
// rule is reported by Err.
func Constant(rules ...Rule) *Policy { return newPolicy(ModeConstant, rules) }

// Raw publishes names as they are, made valid: at most 128 bytes, no control
// characters, no reserved label. Use it where names are fixed words of the
// program. A malformed rule is reported by Err.
func Raw(rules ...Rule) *Policy { return newPolicy(ModeRaw, rules) }

// Hash publishes "<id>:" and 16 hex digits of HMAC-SHA256 over the name. All
// replicas need the same key, at least MinKeySize random bytes, and id, 1 to
// 16 letters, digits, '-' or '_'. Without a proper key there is no policy:
// an unkeyed hash of a guessable name hides nothing, and a key made at start
// would give every replica labels of its own. The key is not kept.
func Hash(key []byte, id string, rules ...Rule) (*Policy, error) {
	primary, err := newPseudonyms(key, id)
	if err != nil {
		return nil, err
	}
	p := newPolicy(ModeHash, rules)
	if p.err != nil {
		return nil, p.err
	}
	p.primary = primary
	return p, nil
}

func newPolicy(mode string, rules []Rule) *Policy {
	p := &Policy{mode: mode, rules: slices.Clone(rules)}
	for i, r := range p.rules {
		err := r.err
		if err == nil && r.mode == ModeHash && mode != ModeHash {
			err = errors.New("Hashed needs a key: give the rules to Hash")
		}
		if err != nil {
			p.err = errors.Join(p.err, fmt.Errorf("leaderscope: rule %d: %w", i+1, err))
		}
	}
	return p
}

// WithSecondary returns the policy with a second key, for a rotation: Label
// and all that is published stay with the first, and Labels gives both. A
// replica that lacks the coming key so fails when it starts, ahead of the
// switch. Only policies made by Hash have one.
func (p *Policy) WithSecondary(key []byte, id string) (*Policy, error) {
	if p.primary == nil {
		return nil, fmt.Errorf("%w: a secondary key needs a policy made by Hash", ErrKey)
	}
	secondary, err := newPseudonyms(key, id)
	if err != nil {
		return nil, err
	}
	if secondary.id == p.primary.id || secondary.check == p.primary.check {
		return nil, fmt.Errorf("%w: the secondary key or its id is that of the primary; make a new key under a new id", ErrKey)
	}
	with := *p
	with.secondary = secondary
	return &with, nil
}

// Err reports malformed rules; nil when the policy can be used.
func (p *Policy) Err() error { return p.err }

// Info describes the policy.
func (p *Policy) Info() Info {
	info := Info{Mode: p.mode}
	if p.primary != nil {
		info.KeyID, info.KeyCheck = p.primary.id, p.primary.check
	}
	if p.secondary != nil {
		info.SecondaryID, info.SecondaryCheck = p.secondary.id, p.secondary.check
	}
	return info
}

// Label returns the label of a name, whatever bytes it is made of. It is
// computed anew each time: callers keep it with the lock.
func (p *Policy) Label(name string) Label { return p.label(name, p.primary) }

// Labels returns the label of a name and, where it depends on the key, the
// label that it has under the secondary key, for those who look for one lock
// on both sides of a rotation.
func (p *Policy) Labels(name string) []Label {
	labels := []Label{p.Label(name)}
	if p.secondary != nil {
		if l := p.label(name, p.secondary); l != labels[0] {
			labels = append(labels, l)
		}
	}
	return labels
}

func (p *Policy) label(name string, key *pseudonyms) Label {
	mode, family := p.mode, ""
	for _, r := range p.rules {
		if r.covers(name) {
			mode, family = r.mode, r.family
			break
		}
	}
	switch {
	case mode == ModeHash && key != nil: // without, Err has said so
		return Label{Text: key.label(name), Family: family}
	case mode == ModeRaw:
		return Label{Text: single(name), Family: family}
	case family != "":
		return Label{Text: family, Family: family, Shared: true}
	default:
		return Label{Text: Redacted, Shared: true}
	}
}

// String describes the policy by its Info.
func (p *Policy) String() string {
	text := "redact." + p.mode
	for _, key := range []*pseudonyms{p.primary, p.secondary} {
		if key != nil {
			text += " " + key.id + "/" + key.check
		}
	}
	return text
}

// Format writes String, whatever the verb.
func (p *Policy) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, p.String()) }
