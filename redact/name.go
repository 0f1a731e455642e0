package redact

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strconv"
)

// Name is a lock name that shows its label wherever it is printed, encoded or
// logged. Only Reveal returns the name itself. The zero Name shows "redacted"
// and reveals the empty name. A Name never changes and is safe for concurrent
// use.
//
// It is for the program's own errors, logs and structs, so that they show the same
// label as the metrics. It cannot be compared with ==: compare labels.
type Name struct {
	label string
	// reveal is a function, because printers that meet a Name in an
	// unexported field call no method and walk through its fields.
	reveal func() string
}

// Name joins a lock name that was made at run time with its Label under the
// policy. It is safe to call concurrently.
func (p *Policy) Name(name string) Name {
	return Name{label: p.Label(name).Text, reveal: func() string { return name }}
}

// Reveal returns the name itself, for calls of the lock's backend. Review each use
// of it, because the name may leave the process there.
func (n Name) Reveal() string {
	if n.reveal == nil {
		return ""
	}
	return n.reveal()
}

// String returns the label.
func (n Name) String() string {
	if n.label == "" {
		return Redacted
	}
	return n.label
}

// GoString returns the label, quoted.
func (n Name) GoString() string { return strconv.Quote(n.String()) }

// Format writes the label, quoted for %q and %#v.
func (n Name) Format(f fmt.State, verb rune) {
	text := n.String()
	if verb == 'q' || verb == 'v' && f.Flag('#') {
		text = n.GoString()
	}
	_, _ = io.WriteString(f, text)
}

// MarshalText returns the label; it never fails.
func (n Name) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// MarshalJSON returns the label as a JSON string; it never fails.
func (n Name) MarshalJSON() ([]byte, error) { return json.Marshal(n.String()) }

// LogValue returns the label.
func (n Name) LogValue() slog.Value { return slog.StringValue(n.String()) }
