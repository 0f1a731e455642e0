package status

import (
	"fmt"
	"net/http"

	"github.com/leaderscope/leaderscope/instrument"
)

// Policy is one condition of a readiness check. The zero Policy is always met.
type Policy struct {
	// unmet says why m does not meet it; empty: it does.
	unmet func(m *instrument.Middleware) string
}

// LeaderOnly is met while this process leads e, according to e.Leading: until its
// lease ends, as far as the end is known. It is for services whose traffic must go
// to the leader. Standbys never become ready with it, so a rollout that waits for
// every replica to be ready does not end. A nil or forgotten Election never leads.
func LeaderOnly(e *instrument.Election) Policy {
	return Policy{func(*instrument.Middleware) string {
		if e.Leading() {
			return ""
		}
		return fmt.Sprintf("this process does not lead lock_name=%q", e.Label())
	}}
}

// NotWhileOverrun is met unless a lease is overrun: this process keeps a term
// past its lease end, or a body still runs, although another replica may lead.
// It checks every lock of the Middleware.
func NotWhileOverrun() Policy {
	return Policy{func(m *instrument.Middleware) (reason string) {
		m.Inspect(func(s *instrument.Snapshot) {
			if reason == "" && overruns(s) {
				reason = fmt.Sprintf("a lease is overrun, lock_name=%q", s.Label)
			}
		})
		return reason
	}}
}

// Ready answers readiness probes: status 200 if every policy is met, otherwise
// 503 with the reason, as plain text. Without a policy a process is always
// ready, since a standby is ready to take over. Do not use it as a liveness check:
// restarting a standby because it does not lead has no benefit.
//
// The handler is safe for concurrent use.
func Ready(m *instrument.Middleware, policies ...Policy) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !begin(w, r) {
			return
		}
		for _, p := range policies {
			if p.unmet == nil {
				continue
			}
			if reason := p.unmet(m); reason != "" {
				plain(w, r, http.StatusServiceUnavailable, "not ready: "+reason)
				return
			}
		}
		plain(w, r, http.StatusOK, "ready")
	})
}
