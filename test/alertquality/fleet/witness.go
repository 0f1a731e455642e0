package fleet

import (
	"time"

	"github.com/leaderscope/leaderscope/instrument"
)

// sees reports the record as a call of the backend has just shown it. Electors that
// wait watch the record and learn of each change; others read it with each attempt
// and each renewal, as client-go reads a Lease.
func (p *process) sees() {
	if !p.witnesses() {
		return
	}
	b, lease := p.backend(), p.sim.Lease
	view := instrument.BackendView{State: instrument.BackendVacant}
	// A watch reports that a record is deleted; a Lease keeps the name of its last holder.
	if b.holder != nil && !(p.sim.Waiting && b.free()) {
		if b.renewed != p.read || b.holder != p.readOf {
			p.read, p.readOf, p.readAt = b.renewed, b.holder, p.sim.now
		}
		// The lease of another runs from when its renewal was first seen.
		end := p.readAt + lease
		if b.holder == p {
			end = b.expires
		}
		view = instrument.BackendView{State: instrument.BackendHeld, Holder: b.holder.name, Expiry: p.clock.of(end), Granted: lease}
	}
	if !p.sim.Waiting {
		view.Every, view.ValidFor = lease, 2*lease+timeout // a leader reads it every third of a lease
	}
	p.e.ObserveBackend(view)
}

// seesNothing reports that a call of the backend was not answered.
func (p *process) seesNothing() {
	if p.witnesses() {
		p.e.ObserveBackend(instrument.BackendView{})
	}
}

func (p *process) witnesses() bool { return p.sim.Witness && p.sim.Every == 0 }

// changed tells those who watch the record.
func (b *backend) changed() {
	if !b.sim.Waiting || !b.sim.Witness {
		return
	}
	for _, p := range b.sim.processes {
		if p.awake() && p.reaches(b) {
			p.sees()
		}
	}
}

// record is what a process read last: when it was written, of whom, and when it was
// first read like this.
type record struct {
	read   time.Duration
	readOf *process
	readAt time.Duration
}
