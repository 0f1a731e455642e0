package fleet

import (
	"context"
	"fmt"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/redact"
)

// process is one life of a replica. Everything that it exports comes from the
// real middleware, which is told what an adapter would tell it.
type process struct {
	sim   *sim
	name  string
	clock clock
	m     *instrument.Middleware
	e     *instrument.Election

	gone     bool
	stopped  bool // by SIGSTOP
	deferred []func()
	// cut and hung until: its calls of the backend fail, its renewal is not
	// answered.
	cut, hung time.Duration
	// blind until: its renewals succeed, even if the record has another holder.
	blind time.Duration
	// side is the second backend while it was led there.
	side *backend

	attempt *instrument.Attempt
	term    *instrument.Term
	turn    int // tells apart the plans of earlier states
	record
	// leaseEnd and lastRenewed are those of the open term, in the world's time.
	leaseEnd, lastRenewed time.Duration
	truth                 *Term
	// naive is client-go's own gauge: it goes back only when the elector
	// notices.
	naive float64
}

// start starts a replica; an empty name is a new one.
func (s *sim) start(name string) (*process, error) {
	if name == "" {
		s.started++
		name = fmt.Sprintf("10.0.%d.%d:9090", s.started/250, s.started%250+1)
	}
	p, err := s.newProcess(name)
	if err != nil {
		return nil, err
	}
	s.processes = append(s.processes, p)
	if p.witnesses() {
		p.e.Identify(name) // until the process ends
	}
	s.discover(p, Job)
	if s.Every > 0 {
		p.schedule()
	} else {
		p.after(s.between(100*time.Millisecond, 2*time.Second), p.campaign)
	}
	return p, nil
}

func (s *sim) newProcess(name string) (*process, error) {
	p := &process{sim: s, name: name, clock: clock{sim: s}}
	if s.ClockOffset > 0 {
		p.clock.offset = s.between(-s.ClockOffset/2, s.ClockOffset/2)
	}
	options := []instrument.Option{instrument.WithClock(&p.clock)}
	if s.Witness {
		options = append(options, instrument.WithRedactor(redact.Raw()))
	}
	m, err := instrument.New(options...)
	if err != nil {
		return nil, err
	}
	opts := []instrument.ElectionOption{instrument.Backend("etcd"), instrument.Family("orders"), instrument.LeaseDuration(s.Lease)}
	if s.Hidden {
		opts = append(opts, instrument.HiddenRenewals())
	}
	if s.Every > 0 {
		opts = append(opts, instrument.ExpectEvery(s.Every))
	} else {
		opts = append(opts, instrument.Hold())
	}
	p.m, p.e = m, m.Election(Lock, opts...)
	return p, nil
}

// startCanary starts a replica under a job of its own that never wins.
func (s *sim) startCanary() error {
	p, err := s.newProcess("canary:9090")
	if err != nil {
		return err
	}
	s.discover(p, CanaryJob)
	var ask func()
	ask = func() {
		p.e.Begin(context.Background()).NotAcquired(instrument.ErrContended)
		s.after(30*time.Second, ask)
	}
	ask()
	return nil
}

// after has something done by the process, unless its state has changed by
// then or it is gone. A stopped process does it when it continues.
func (p *process) after(d time.Duration, run func()) {
	turn := p.turn
	var do func()
	do = func() {
		switch {
		case p.gone || p.turn != turn:
		case p.stopped:
			p.deferred = append(p.deferred, do)
		default:
			run()
		}
	}
	p.sim.after(d, do)
}

// reaches reports whether its calls of a backend are answered.
func (p *process) reaches(b *backend) bool {
	return p.sim.now >= p.cut && p.sim.now >= b.down && p.backend() == b
}

func (p *process) awake() bool { return !p.gone && !p.stopped }

func (p *process) backend() *backend {
	if p.side != nil {
		return p.side
	}
	return p.sim.backend
}

// retry is the time between attempts, and between renewals that failed.
func (s *sim) retry() time.Duration {
	base := min(max(s.Lease/5, time.Second), 10*time.Second)
	return s.between(base*8/10, base*12/10)
}

// campaign is one attempt of a lock that is held.
func (p *process) campaign() {
	p.turn++
	p.attempt = p.e.Begin(context.Background())
	b := p.backend()
	switch {
	case !p.reaches(b):
		p.after(timeout, func() {
			p.seesNothing()
			p.refused(instrument.ErrBackend)
		})
	case p.sim.now < b.refusing:
		p.after(b.latency(), func() {
			p.sees() // reads are answered
			p.refused(instrument.ErrBackend)
		})
	case p.sim.Waiting:
		p.sees()
		b.wait(p)
		p.watchConnection()
	default:
		sent := p.sim.now
		p.after(b.latency(), func() { p.answered(sent) })
	}
}

// watchConnection ends a wait when the backend no longer answers.
func (p *process) watchConnection() {
	p.after(10*time.Second, func() {
		b := p.backend()
		if p.reaches(b) && p.sim.now >= b.refusing {
			p.watchConnection()
			return
		}
		b.leaveQueue(p)
		if !p.reaches(b) {
			p.seesNothing()
		}
		p.refused(instrument.ErrBackend)
	})
}

// woken is a wait that the backend ends.
func (p *process) woken() {
	b := p.backend()
	p.turn++
	sent := p.sim.now
	p.grant(b, sent)
	p.after(b.latency(), func() { p.won(sent) })
}

// answered is the answer to an attempt that asked.
func (p *process) answered(sent time.Duration) {
	b := p.backend()
	if !b.free() && b.holder != p {
		p.sees()
		p.refused(instrument.ErrContended)
		return
	}
	p.grant(b, sent)
	p.sees()
	p.won(sent)
}

// grant has the record written by a request sent then.
func (p *process) grant(b *backend, sent time.Duration) { b.grant(p, sent+p.sim.Lease) }

func (p *process) refused(err error) {
	p.attempt.NotAcquired(err)
	p.attempt = nil
	if p.sim.Every == 0 {
		p.turn++
		p.after(p.sim.retry(), p.campaign)
	}
}

// won opens the term.
func (p *process) won(sent time.Duration) {
	p.leaseEnd, p.lastRenewed, p.naive = sent+p.sim.Lease, sent, 1
	p.term = p.attempt.Won(p.lease())
	p.attempt = nil
	p.truth = &Term{Process: p.name, From: p.sim.now}
	p.turn++
	if p.sim.Every == 0 {
		p.after(p.sim.Lease/3, p.renew)
	}
}

func (p *process) lease() instrument.Lease {
	opts := []instrument.LeaseOption{instrument.RenewalsReported()}
	if p.sim.Hidden {
		opts = []instrument.LeaseOption{instrument.RenewalsHidden()}
	} else {
		opts = append(opts, instrument.ExpiryFrom(func() time.Time { return p.clock.of(p.leaseEnd) }))
	}
	return instrument.NewLease(nil, opts...)
}

// renew sends a renewal.
func (p *process) renew() {
	b, sent := p.backend(), p.sim.now
	switch {
	case sent < p.hung:
		p.after(p.hung-sent, func() { p.renewed(sent) })
	case !p.reaches(b):
		p.after(timeout, func() { p.renewalFailed(sent) })
	default:
		p.after(b.latency(), func() { p.renewed(sent) })
	}
}

// renewed is the answer to a renewal.
func (p *process) renewed(sent time.Duration) {
	b := p.backend()
	blind := p.sim.now < p.blind
	if !blind && (b.holder != p || p.sim.now >= b.expires) {
		p.lose(instrument.ErrLost)
		return
	}
	if !blind {
		p.grant(b, sent)
		p.sees()
	}
	p.leaseEnd, p.lastRenewed = sent+p.sim.Lease, sent
	if !p.sim.Hidden {
		p.term.Sink().Renewed(instrument.Renewal{Sent: p.clock.of(sent), Expiry: p.clock.of(p.leaseEnd)})
	}
	p.after(p.sim.Lease/3-(p.sim.now-sent), p.renew)
}

// renewalFailed gives up when two thirds of the lease are gone.
func (p *process) renewalFailed(sent time.Duration) {
	p.seesNothing()
	if !p.sim.Hidden {
		p.term.Sink().RenewalFailedSince(p.clock.of(sent), instrument.ErrBackend)
	}
	if p.sim.now-p.lastRenewed >= p.sim.Lease*2/3 {
		p.lose(instrument.ErrGaveUp)
		return
	}
	p.after(p.sim.retry(), p.renew)
}

// lose ends the term on what the elector has learned.
func (p *process) lose(cause error) {
	p.term.Sink().Lost(cause)
	p.end()
	p.turn++
	p.after(p.sim.retry(), p.campaign)
}

// end is what every end of a term has in common.
func (p *process) end() {
	p.closeTruth(p.sim.now)
	p.term, p.naive = nil, 0
}

// release releases the lock.
func (p *process) release() {
	_ = p.term.Release(context.Background())
	if b := p.backend(); p.reaches(b) {
		b.release(p)
		p.sees()
	}
	p.end()
}

// crash ends the process; nothing that it exports is collected any longer. The
// record stays until its lease ends.
func (p *process) crash() {
	p.backend().leaveQueue(p)
	p.closeTruth(p.sim.now)
	p.gone = true
	p.turn++
}

// shutdown ends the process in order.
func (p *process) shutdown() {
	if p.term != nil {
		p.release()
	}
	p.crash()
}

// stop and resume are SIGSTOP and SIGCONT.
func (p *process) stop() { p.stopped = true }

func (p *process) resume() {
	p.stopped = false
	run := p.deferred
	p.deferred = nil
	for _, do := range run {
		do()
	}
}
