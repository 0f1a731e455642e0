package redact

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

// Policy maps names to labels. The same name gives the same label for the
// whole life of a Policy. It never changes and is safe for concurrent use.
// Printed, it shows its Info and no key. The zero Policy is Constant().
//
// A policy from a malformed rule or an unsuitable key reports this in Err. If it
// is used by mistake, all its labels are "redacted", it computes no hash, and its
// Info has no key. instrument.New refuses it.
type Policy struct {
	policy             string      // empty: PolicyConstant
	primary, secondary *pseudonyms // nil without the key, or when err is set
	rules              []Rule
	err                error
}

// Constant returns the label "redacted" for every name that no rule matches. It
// needs no key, and no part of the name leaves the process. Err reports malformed
// rules.
//
// The default policy of package instrument is Constant(Literals()): constants of
// the program are their own labels, and names made at run time are "redacted".
func Constant(rules ...Rule) *Policy { return newPolicy(PolicyConstant, nil, rules) }

// Raw publishes names as they are, made valid: at most 128 bytes, no control
// characters, no reserved label. Use it where names are fixed words of the
// program. Err reports malformed rules.
func Raw(rules ...Rule) *Policy { return newPolicy(PolicyRaw, nil, rules) }

// Hash publishes "<id>:" and 16 hex digits of HMAC-SHA256 over the name. All
// replicas need the same key, at least MinKeySize random bytes, and the same
// id, 1 to 16 letters, digits, '-' or '_'. Err reports a key that is too short
// or not random, an unsuitable id and malformed rules; errors about the key
// wrap ErrKey. There is no hash policy without a key: an unkeyed hash of a
// guessable name hides nothing, and with a key that is generated at start every
// replica would have different labels. The key itself is not stored.
func Hash(key []byte, id string, rules ...Rule) *Policy {
	primary, err := newPseudonyms(key, id, "the key")
	p := newPolicy(PolicyHash, err, rules)
	if p.err == nil {
		p.primary = primary
	}
	return p
}

func newPolicy(policy string, err error, rules []Rule) *Policy {
	p := &Policy{policy: policy, rules: slices.Clone(rules), err: err}
	for i, r := range p.rules {
		err := r.err
		if err == nil && r.policy == PolicyHash && policy != PolicyHash {
			err = errors.New("Hashed needs a key: pass the rules to Hash")
		}
		if err != nil {
			p.err = errors.Join(p.err, fmt.Errorf("leaderscope: rule %d: %w", i+1, err))
		}
	}
	return p
}

// WithSecondary returns the policy with a second key, for a rotation: Label,
// Literal and all published labels use the first key, and Labels returns the
// labels under both. A replica without the future key then fails at its start,
// before the switch.
//
// Err of the returned policy reports a secondary key or id that is unsuitable or
// equal to that of the first key, and a policy that is not from Hash; these
// errors wrap ErrKey. Errors of the policy itself are kept.
func (p *Policy) WithSecondary(key []byte, id string) *Policy {
	with := *p
	secondary, err := newPseudonyms(key, id, "the secondary key")
	switch {
	case p.Info().Policy != PolicyHash:
		err = fmt.Errorf("%w: a secondary key needs a policy from Hash", ErrKey)
	case err == nil && p.primary != nil && (secondary.id == p.primary.id || secondary.check == p.primary.check):
		err = fmt.Errorf("%w: the secondary key or its id is that of the primary; make a new key under a new id", ErrKey)
	}
	if with.err = errors.Join(p.err, err); with.err != nil {
		with.primary, with.secondary = nil, nil
		return &with
	}
	with.secondary = secondary
	return &with
}

// Err reports all faults of the key, its id and the rules; nil if the policy can
// be used. No error shows a key or a name.
func (p *Policy) Err() error { return p.err }

// Info describes the policy. A policy with an error has no key.
func (p *Policy) Info() Info {
	info := Info{Policy: p.policy}
	if p.policy == "" {
		info.Policy = PolicyConstant
	}
	if p.primary != nil {
		info.KeyID, info.KeyCheck = p.primary.id, p.primary.check
	}
	if p.secondary != nil {
		info.SecondaryID, info.SecondaryCheck = p.secondary.id, p.secondary.check
	}
	return info
}

// Label returns the label of a name that was made at run time, of any bytes. The
// rule Literals does not match it. Each call computes the label again: store it
// with the lock.
func (p *Policy) Label(name string) Label { return p.label(name, madeAtRunTime, p.primary) }

// Literal returns the label of a name that is a constant of the program. The
// rule Literals matches it, as all other rules can. Never pass it a name that was
// made from data: a policy may publish constants unchanged.
func (p *Policy) Literal(name string) Label { return p.label(name, literal, p.primary) }

// Labels returns Label and, if it depends on the key, the label of the name under
// the secondary key: one or two labels. Use it to find a lock before and after a
// rotation.
func (p *Policy) Labels(name string) []Label { return p.labels(name, madeAtRunTime) }

// LiteralLabels is Labels for a name that is a constant of the program.
func (p *Policy) LiteralLabels(name string) []Label { return p.labels(name, literal) }

func (p *Policy) labels(name string, origin origin) []Label {
	labels := []Label{p.label(name, origin, p.primary)}
	if p.secondary != nil {
		if l := p.label(name, origin, p.secondary); l != labels[0] {
			labels = append(labels, l)
		}
	}
	return labels
}

func (p *Policy) label(name string, origin origin, key *pseudonyms) Label {
	if p.err != nil {
		return Label{Text: Redacted, Shared: true}
	}
	policy, family := p.policy, ""
	for _, r := range p.rules {
		if r.covers(name, origin) {
			policy, family = r.policy, r.family
			break
		}
	}
	switch {
	case policy == PolicyHash:
		return Label{Text: key.label(name), Family: family}
	case policy == PolicyRaw:
		return Label{Text: single(name), Family: family}
	case family != "":
		return Label{Text: family, Family: family, Shared: true}
	default:
		return Label{Text: Redacted, Shared: true}
	}
}

// String describes the policy by its Info.
func (p *Policy) String() string {
	text := "redact." + p.Info().Policy
	for _, key := range []*pseudonyms{p.primary, p.secondary} {
		if key != nil {
			text += " " + key.id + "/" + key.check
		}
	}
	return text
}

// Format writes String for every verb.
func (p *Policy) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, p.String()) }
