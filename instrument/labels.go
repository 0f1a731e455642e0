package instrument

import (
	"log/slog"
	"slices"
	"strings"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/internal/registry"
	"github.com/leaderscope/leaderscope/redact"
)

// enter makes the handle of a name under its label, unless another goroutine
// was first.
func (m *Middleware) enter(d registry.Digest, label redact.Label, opts []ElectionOption) *Election {
	set := m.shareSettings(newSettings(label.Family, opts))
	e := &Election{m: m, set: set}
	e.lock.Prepare(e, &set.Declared)
	l, first := m.locks.Enter(d, label, m.wall(), &e.lock)
	if first {
		return e
	}
	return m.known(l, opts)
}

// shareSettings bounds the open labels of new settings and returns those of
// the handle before if they are the same: handles are mostly made in rows.
func (m *Middleware) shareSettings(set *settings) *settings {
	m.locks.Declare(&set.Declared)
	if latest := m.latest.Load(); latest != nil && latest.same(set) {
		return latest
	}
	m.latest.Store(set)
	return set
}

// compare holds the options of a later call to those of the first.
func (e *Election) compare(opts []ElectionOption) {
	if e.set.contradicts(newSettings("", opts)) && e.say(saidOptions) {
		e.m.fault()
		e.m.notice("options for a lock differ from those of the first call, which remain in effect; pass the same options in every call for a name", e.labelAttr())
	}
}

// label asks the redactor for the label of a name made at run time. Its
// answer is made valid, since one invalid label fails a whole scrape.
func (m *Middleware) label(name string) (label redact.Label) {
	defer m.contain(func() { label = redact.Label{Text: redact.Redacted, Shared: true} })
	return checked(m.redactor.Label(name))
}

// literalLabel asks for the label of a constant of the program.
func (m *Middleware) literalLabel(name string) (label redact.Label) {
	defer m.contain(func() { label = redact.Label{Text: redact.Redacted, Shared: true} })
	if l, ok := m.redactor.(LiteralRedactor); ok {
		return checked(l.Literal(name))
	}
	return checked(m.redactor.Label(name))
}

// checked makes a label valid. A shared one says so by its text, which rules
// about single locks leave out by that.
func checked(label redact.Label) redact.Label {
	label.Text, label.Family = redact.Valid(label.Text), redact.Valid(label.Family)
	if label.Text == "" {
		label.Text = redact.Redacted
	}
	marked := label.Text == redact.Redacted || label.Text == redact.Overflow || strings.Contains(label.Text, redact.Wildcard)
	if label.Shared && !marked {
		label.Text = registry.Wildcarded(label.Text)
	}
	label.Shared = label.Shared || marked
	return label
}

// info describes the redactor, its policy from the closed set.
func (m *Middleware) info() (info redact.Info) {
	defer m.contain(func() { info = redact.Info{Policy: customPolicy} })
	info = m.redactor.Info()
	policies, _ := catalog.RedactionInfo.Label("policy")
	if !slices.Contains(policies.Values(), info.Policy) {
		info.Policy = customPolicy
	}
	info.KeyID, info.KeyCheck = redact.Valid(info.KeyID), redact.Valid(info.KeyCheck)
	return info
}

const customPolicy = "custom"

// Collisions counts labels that turned out to stand for two names, by the
// digests of live names: from then on such a label ends in "*", as the labels
// of families do, and rules about single locks leave it out. Names are not
// compared between processes.
func (m *Middleware) Collisions() uint64 {
	if m == nil {
		return 0
	}
	return m.locks.Counts().Collisions
}

// overflowed logs the first name beyond the cap.
func (m *Middleware) overflowed(family string) {
	attrs := []slog.Attr{slog.String(catalog.LockName.Name(), redact.Overflow), slog.Int("max_labels", m.maxLabels)}
	if family != "" {
		attrs = append(attrs, slog.String("family", family))
	}
	m.notice("the cap on lock labels is reached, further names share one label; raise it with instrument.WithMaxLabels", attrs...)
}

func (m *Middleware) collided(shown string) {
	m.notice("two lock names have the same label, which is reported as shared from now on", slog.String(catalog.LockName.Name(), shown))
}

// noticeRedacted logs, once, what the default policy costs.
func (m *Middleware) noticeRedacted(label redact.Label) {
	if !m.byDefault || label.Text != redact.Redacted {
		return
	}
	m.redactedNotice.Do(func() {
		m.notice("lock names made at run time share the label \"redacted\", so per-lock alerts are off for them; choose a policy with instrument.WithRedactor, such as redact.Hash, to distinguish them",
			slog.String("alerts", strings.Join(catalog.SingleLockAlerts(), ", ")))
	})
}
