package instrument

import (
	"fmt"
	"io"
	"log/slog"
)

// Handles are printed, encoded and logged as their label alone: printers that
// walk through fields would print the lease, the context and every other value
// that the caller put there.

// String is the label; the raw name is not stored.
func (e *Election) String() string { return e.Label() }

// Format writes the label for every verb.
func (e *Election) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, e.Label()) }

// LogValue returns the label.
func (e *Election) LogValue() slog.Value { return slog.StringValue(e.Label()) }

// String is the label of the lock.
func (t *Term) String() string {
	if t == nil {
		return ""
	}
	return t.e.Label()
}

// Format writes the label for every verb.
func (t *Term) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, t.String()) }

// LogValue returns the label.
func (t *Term) LogValue() slog.Value { return slog.StringValue(t.String()) }

// String is the label of the lock.
func (a *Attempt) String() string {
	if a == nil {
		return ""
	}
	return a.e.Label()
}

// Format writes the label for every verb.
func (a *Attempt) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, a.String()) }

// LogValue returns the label.
func (a *Attempt) LogValue() slog.Value { return slog.StringValue(a.String()) }

// String describes the middleware and its redaction.
func (m *Middleware) String() string {
	if m == nil {
		return "leaderscope, off"
	}
	return "leaderscope, names by policy " + m.info().Policy
}

// Format writes String for every verb.
func (m *Middleware) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, m.String()) }

// LogValue returns String.
func (m *Middleware) LogValue() slog.Value { return slog.StringValue(m.String()) }
