package fleet

import (
	"context"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
)

// schedule has the periodic job tried at each tick, which all replicas share
// but for a moment.
func (p *process) schedule() {
	next := p.sim.now.Truncate(p.sim.Every) + p.sim.Every + p.sim.between(0, 2*time.Second)
	p.after(next-p.sim.now, func() {
		p.schedule()
		p.tryRun()
	})
}

// tryRun is one attempt of a lock that is taken for one run.
func (p *process) tryRun() {
	if p.term != nil || p.attempt != nil {
		return // the last one is still on
	}
	p.attempt = p.e.Begin(context.Background())
	b, sent := p.backend(), p.sim.now
	if !p.reaches(b) || sent < b.refusing {
		p.after(timeout, func() { p.refused(instrument.ErrBackend) })
		return
	}
	p.after(b.latency(), func() {
		if !b.free() {
			p.refused(instrument.ErrContended)
			return
		}
		p.grant(b, sent)
		p.leaseEnd, p.naive = sent+p.sim.Lease, 1
		p.term = p.attempt.Won(p.lease())
		p.attempt = nil
		p.truth = &Term{Process: p.name, From: p.sim.now}
		p.after(p.sim.between(p.sim.Lease/20, p.sim.Lease/2), p.release)
	})
}
