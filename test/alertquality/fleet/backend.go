package fleet

import (
	"time"
)

// backend has one record of the lock.
type backend struct {
	sim *sim
	// holder is the one that the record names until its lease ends.
	holder  *process
	expires time.Duration
	renewed time.Duration // when the record was written last
	waiting []*process
	timer   int // tells apart the ends that were planned
	// down, slow and refusing until: nothing is answered, everything takes
	// seconds, nothing is acquired.
	down, slow, refusing time.Duration
}

func newBackend(s *sim) *backend { return &backend{sim: s} }

// The time that calls take.
const (
	timeout = 5 * time.Second
	quick   = 8 * time.Millisecond
)

// latency of a call that is answered.
func (b *backend) latency() time.Duration {
	if b.sim.now < b.slow {
		return b.sim.between(time.Second, 4*time.Second)
	}
	return b.sim.between(quick/2, 2*quick)
}

// free reports whether the record names no holder.
func (b *backend) free() bool { return b.holder == nil || b.sim.now >= b.expires }

// grant writes the record for a process.
func (b *backend) grant(p *process, until time.Duration) {
	b.holder, b.expires, b.renewed = p, until, b.sim.now
	b.planEnd()
	b.changed()
}

// release takes the process out of the record.
func (b *backend) release(p *process) {
	if b.holder == p {
		b.drop()
	}
}

// drop deletes the record of any holder.
func (b *backend) drop() {
	b.holder = nil
	b.timer++
	b.changed()
	b.wake()
}

// planEnd wakes those who wait when the lease ends.
func (b *backend) planEnd() {
	b.timer++
	mine := b.timer
	b.sim.at(b.expires, func() {
		if b.timer == mine {
			b.changed()
			b.wake()
		}
	})
}

// wait has the process told when the lock is free.
func (b *backend) wait(p *process) {
	b.waiting = append(b.waiting, p)
	if b.free() {
		b.wake()
	}
}

func (b *backend) leaveQueue(p *process) {
	for i, other := range b.waiting {
		if other == p {
			b.waiting = append(b.waiting[:i:i], b.waiting[i+1:]...)
			return
		}
	}
}

// wake lets those who wait try, in the order in which they came. It asks again
// while none of them can be told.
func (b *backend) wake() {
	if len(b.waiting) == 0 || !b.free() {
		return
	}
	if b.sim.now >= b.down && b.sim.now >= b.refusing {
		for _, p := range b.waiting {
			if p.reaches(b) && p.awake() {
				b.leaveQueue(p)
				p.woken()
				return
			}
		}
	}
	b.sim.after(time.Second, func() { b.wake() })
}
