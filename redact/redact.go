// Package redact turns lock names into labels that may leave the process.
//
//	key, err := redact.ReadKeyFile("/run/secrets/lock-names")
//	policy := redact.Hash(key, "k1", redact.Exact("daily-report"))
//	m, err := instrument.New(instrument.WithRedactor(policy))
//
// It knows only names and labels; which labels exist at the same time, and how
// many, is decided in package instrument.
//
// The first rule that matches a name decides its label. A name that no rule
// matches gets the label of the policy: a constant, a keyed hash, or the name
// itself. A keyed hash is a pseudonym and not anonymous: the owner of the key can
// hash candidate names and compare.
package redact

// The policies, as the policy label of leader_redaction_info.
const (
	PolicyConstant = "constant"
	PolicyHash     = "hash"
	PolicyRaw      = "raw"
)

// Labels that stand for several names. The catalogue lists the same words for
// rules and panels; a test in package instrument compares the two.
const (
	// Redacted stands for every name that no rule covers.
	Redacted = "redacted"
	// Overflow stands for every name beyond the limit on labels.
	Overflow = "overflow"
	// Wildcard stands for the variable part of a family such as
	// tenant-*/orders; no label of a single name contains it.
	Wildcard = "*"
)

// Label represents a lock name outside the process. The zero Label is not a
// label: a Policy never returns one with an empty Text.
type Label struct {
	// Text is the value of lock_name: valid UTF-8, 1 to 128 bytes.
	Text string
	// Family is the low-cardinality kind of name that a template rule found;
	// empty when there is none.
	Family string
	// Shared reports that several names have this label, so that it must not
	// be treated as one lock.
	Shared bool
}

// Info describes a policy, for leader_redaction_info.
type Info struct {
	// Policy is PolicyConstant, PolicyHash or PolicyRaw.
	Policy string
	// KeyID names the key in use; empty without one.
	KeyID string
	// KeyCheck is the same for the same key and reveals nothing else about it;
	// empty without a key.
	KeyCheck string
	// SecondaryID and SecondaryCheck are those of the secondary key; empty
	// without one.
	SecondaryID, SecondaryCheck string
}
