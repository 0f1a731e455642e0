package electtest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/leaderscope/leaderscope/instrument"
)

func (s *adapter) campaignSuite() CampaignSuite {
	return CampaignSuite{
		Run: func(ctx context.Context, _ testing.TB, lock string, e *instrument.Election, work func(context.Context)) error {
			return s.campaign(ctx, lock, e, work)
		},
		Options: []instrument.ElectionOption{instrument.Hold()},
		Lease:   s.lease, VirtualTime: true, Fenced: s.fenced, HidesSendTimes: s.hidesSendTimes, Works: true, KeepsLock: s.keepsLock, GivesUp: s.givesUp,
		Lose:      s.suite().Lose,
		Remaining: s.suite().Remaining,
		Break:     s.breaks,
	}
}

func (s *adapter) campaign(ctx context.Context, lock string, e *instrument.Election, work func(context.Context)) error {
	for again := true; again && ctx.Err() == nil; again = s.fault != "it campaigns once" {
		term, err := s.acquire(ctx, lock, e)
		if err != nil {
			if !s.waits {
				_ = travel(ctx)
			}
			continue
		}
		s.lead(ctx, term, work)
	}
	switch s.fault {
	case "it returns the end of its context":
		return ctx.Err()
	case "it does not stop":
		_ = travel(context.Background())
		<-s.never
	}
	return nil
}

func (s *adapter) acquire(ctx context.Context, lock string, e *instrument.Election) (*instrument.Term, error) {
	if s.fault != "its waiting is not seen" {
		return e.Acquire(ctx, s.elector(lock))
	}
	l, err := s.elector(lock).Acquire(ctx)
	if err != nil {
		return nil, err
	}
	return e.Begin(ctx).Won(l), nil
}

func (s *adapter) lead(ctx context.Context, term *instrument.Term, work func(context.Context)) {
	body := func(ctx context.Context, _ *instrument.Term) error { work(ctx); return nil }
	if s.fault == "the work is not seen" {
		both, cancel := context.WithCancel(term.Context())
		defer context.AfterFunc(ctx, cancel)()
		_ = body(both, term)
	} else {
		_ = term.Work(ctx, body)
	}
	switch {
	case s.keepsLock && ctx.Err() != nil && s.fault != "it gives the lock back":
		term.Sink().Lost(context.Canceled)
	case s.fault == "it does not give the lock back":
		term.Sink().Lost(context.Canceled)
	default:
		_ = term.Release(context.WithoutCancel(ctx))
	}
}

var (
	campaigner = style{lease: leaseLength, waits: true, renewsItself: true, fenced: true}
	leaver     = style{lease: leaseLength, waits: true, renewsItself: true, keepsLock: true}
	quitter    = style{lease: leaseLength, waits: true, renewsItself: true, fenced: true, givesUp: true}
)

func TestRightCampaignsOfEachStyleConform(t *testing.T) {
	for name, s := range map[string]style{
		"waits":                           campaigner,
		"asks again":                      {lease: leaseLength, renewsItself: true, fenced: true},
		"gives up before its lease ends":  quitter,
		"keeps its lock, without a token": leaver,
		"hides when it renews":            {lease: leaseLength, waits: true, renewsItself: true, hidesSendTimes: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			CampaignConformance(t, s.new().campaignSuite())
		})
	}
}

var campaignMutants = []mutant{
	{"it campaigns once", campaigner, ruleComeback},
	{"it returns the end of its context", campaigner, ruleStop},
	{"it does not stop", campaigner, ruleStop},
	{"it does not give the lock back", campaigner, ruleGivenBack},
	{"the work is not seen", campaigner, ruleWork},
	{"giving up is not told", quitter, ruleGaveUp},
	{"a loss is not told", campaigner, ruleLoss},
	{"a loss is told as a stop", campaigner, ruleLoss},
	{"the token repeats", campaigner, ruleToken},
	{"renewals are not reported", campaigner, ruleOwnRenewals},
	{"the duration of renewals is not reported", campaigner, ruleDuration},
	{"a renewal moves the end by a day", campaigner, ruleHeadroom},
	{"the length changes", campaigner, ruleConstant},
	{"two hold the lock", campaigner, ruleExclusion},
	{"a release does not release", campaigner, ruleGivenBack},
	{"it gives the lock back", leaver, ruleKept},
	{"its waiting is not seen", campaigner, ruleStandby},
	{"a waiting contender sleeps too long", campaigner, ruleSuccession},
}

func TestACampaignWithOneFaultBreaksTheRuleAboutIt(t *testing.T) {
	for _, c := range campaignMutants {
		t.Run(string(c.fault), func(t *testing.T) {
			t.Parallel()
			c.of.fault = c.fault
			broken := brokenCampaignRules(t, c.of.new())
			if !slices.Contains(broken, c.rule) {
				t.Errorf("want a failure of the rule\n\t%s\nbroken are\n\t%s", c.rule, join(broken))
			}
		})
	}
}

func brokenCampaignRules(t *testing.T, of *adapter) (broken []rule) {
	s := of.campaignSuite()
	for _, c := range campaignChecks {
		if c.needs != nil && c.needs(s) != "" {
			continue
		}
		for _, f := range failuresOf(t, s.promises(), func(tr *checkRun) {
			of.never = make(chan struct{})
			defer close(of.never)
			c.run(&campaigning{tr, s})
			for i := range tr.undo { // stop what runs, while it can be judged
				tr.undo[i]()
			}
		}) {
			r, _, _ := strings.Cut(f, "\n")
			broken = append(broken, rule(r))
		}
	}
	return broken
}
