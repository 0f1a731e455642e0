package electtest

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// The styles that libraries have.
var (
	keeper  = style{lease: leaseLength, waits: true, renewsItself: true, fenced: true}
	renewer = style{lease: leaseLength, onDemand: true, fenced: true, quiet: true}
)

func TestRightAdaptersOfEachStyleConform(t *testing.T) {
	for name, s := range map[string]style{
		"waits, renews itself, fenced, tells of a loss":       keeper,
		"at once, renews itself, tells of a loss":             {lease: leaseLength, renewsItself: true},
		"waits, renews itself, fenced, held for good":         {lease: leaseLength, hold: true, waits: true, renewsItself: true, fenced: true},
		"waits, renews itself, keeps quiet":                   {lease: leaseLength, waits: true, renewsItself: true, quiet: true},
		"waits, renews itself at instants that it hides":      {lease: leaseLength, waits: true, renewsItself: true, hidesSendTimes: true},
		"at once, renewed on demand, fenced, keeps quiet":     renewer,
		"waits, renewed on demand, keeps quiet":               {lease: leaseLength, waits: true, onDemand: true, quiet: true},
		"waits, renewed both ways, tells of a loss":           {lease: leaseLength, waits: true, onDemand: true, renewsItself: true, fenced: true},
		"at once, renewed on demand, releases blindly":        {lease: leaseLength, onDemand: true, quiet: true, ignoresLoss: true},
		"at once, renewed on demand, backend cannot be asked": {lease: leaseLength, onDemand: true, quiet: true, unknownToBackend: true},
		"at once, renewed on demand, loses by giving up":      {lease: leaseLength, onDemand: true, fenced: true, quiet: true, losesByGivingUp: true},
		"at once, renewed on demand without a context":        {lease: leaseLength, onDemand: true, fenced: true, quiet: true, deaf: true},
		"waits, not renewed, keeps quiet":                     {lease: leaseLength, waits: true, quiet: true},
		"at once, not renewed, fenced, keeps quiet":           {lease: leaseLength, fenced: true, quiet: true},
		"waits, no lease, connection is checked":              {waits: true, renewsItself: true},
		"at once, no lease, fenced, connection is checked":    {renewsItself: true, fenced: true},
		"waits, renews itself unseen, keeps quiet":            {waits: true, hidesRenewals: true, quiet: true},
		"waits, no lease, keeps quiet":                        {waits: true, quiet: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			Conformance(t, s.new().suite())
		})
	}
}

// mutant is an adapter with one fault, and the rule that it breaks.
type mutant struct {
	fault fault
	of    style
	rule  rule
}

var (
	patient = style{lease: leaseLength, waits: true, onDemand: true, fenced: true, quiet: true}
	blind   = style{lease: leaseLength, onDemand: true, fenced: true, quiet: true, unknownToBackend: true}
	holding = style{lease: leaseLength, hold: true, waits: true, renewsItself: true, fenced: true}
	silent  = style{lease: leaseLength, renewsItself: true, quiet: true}
	hidden  = style{waits: true, hidesRenewals: true, quiet: true}
	bare    = style{lease: leaseLength, renewsItself: true}
	idle    = style{lease: leaseLength, fenced: true, quiet: true}
	fragile = style{lease: leaseLength, onDemand: true, fenced: true, quiet: true, losesByGivingUp: true}
)

var mutants = []mutant{
	{"a renewal sends nothing", renewer, ruleRenewed},
	{"a refusal after giving up is a backend error", fragile, ruleRefused},
	{"a renewal sends nothing", blind, ruleRenewed},
	{"a renewal moves the end by a day", renewer, ruleRenewal},
	{"a renewal moves the end by a day", blind, ruleRenewal},
	{"a renewal moves the end by a day", keeper, ruleHeadroom},
	{"a renewal does not move the end", renewer, ruleRenewal},
	{"the end counts from the answer", renewer, ruleEarlyEnd},
	{"the end counts from the answer", keeper, ruleEarlyEnd},
	{"the end of a renewal counts from the answer", renewer, ruleEarlyEnd},
	{"the end of a renewal counts from the answer", keeper, ruleEarlyEnd},
	{"the lease is longer than that of the backend", blind, ruleWin},
	{"the watcher returns at once", holding, ruleHeadroom},
	{"the length changes", keeper, ruleConstant},
	{"the length changes", renewer, ruleConstant},
	{"the token repeats", keeper, ruleToken},
	{"there is no token", keeper, ruleToken},
	{"there is a token without fencing", bare, ruleToken},
	{"renewals are not reported", keeper, ruleOwnRenewals},
	{"renewals are reported twice", keeper, ruleDuration},
	{"the duration of renewals is not reported", keeper, ruleDuration},
	{"hidden renewals are shown", hidden, ruleWin},
	{"a loss is not told", keeper, ruleLoss},
	{"a loss is told as a stop", keeper, ruleLoss},
	{"the error of a renewal is swallowed", renewer, ruleRefused},
	{"a refused renewal is not declared", renewer, ruleRefused},
	{"the end of a renewal's context is a loss", renewer, ruleLateRenewal},
	{"Renew does nothing where it is not supported", bare, ruleUnsupported},
	{"a renewal that is not supported is reported", idle, ruleUnsupported},
	{"a release that worked returns an error", renewer, ruleRelease},
	{"a release does not release", renewer, ruleFreed},
	{"a release does not release", style{renewsItself: true}, ruleFreed},
	{"the error of a release is swallowed", keeper, ruleFailing},
	{"the error of a release is swallowed", renewer, ruleAfterLoss},
	{"what was not released is kept", renewer, ruleUnreleased},
	{"a release under an ended context is lost", renewer, ruleOverRelease},
	{"a release takes the lock from the next holder", renewer, ruleNextHolder},
	{"a release during a renewal fails", renewer, ruleConcurrent},
	{"two hold the lock", keeper, ruleExclusion},
	{"two hold the lock", renewer, ruleExclusion},
	{"contention is not declared", renewer, ruleContended},
	{"the name is printed", renewer, rulePrints},
	{"Acquire ignores its context", keeper, ruleGivingUp},
	{"Acquire ignores its context", patient, ruleGivingUp},
	{"a waiting contender sleeps too long", keeper, ruleTurn},
	{"a lock is left behind", keeper, ruleLeftBehind},
	{"a lock is left behind", renewer, ruleLeftBehind},
	{"a typed nil beside the error", keeper, ruleAnswer},
	{"a lease beside the error", renewer, ruleAnswer},
	{"a typed nil without an error", renewer, ruleAnswer},
	{"neither a lease nor an error", keeper, ruleAnswer},
	{"nothing is ever won", keeper, ruleFree},
	{"an ended context is contention", renewer, ruleEnded},
	{"the lock is not kept", renewer, ruleHeld},
	{"a lost lock is kept from others", renewer, ruleVacant},
	{"a lost lock is reported as renewed", silent, ruleQuietLoss},
}

func TestAnAdapterWithOneFaultBreaksTheRuleAboutIt(t *testing.T) {
	for _, c := range mutants {
		t.Run(string(c.fault), func(t *testing.T) {
			t.Parallel()
			c.of.fault = c.fault
			broken := brokenRules(t, c.of.new().suite())
			if !slices.Contains(broken, c.rule) {
				t.Errorf("want a failure of the rule\n\t%s\nbroken are\n\t%s", c.rule, join(broken))
			}
		})
	}
}

// brokenRules runs all checks and returns the rules that failures begin with.
func brokenRules(t *testing.T, s Suite) (broken []rule) {
	for _, c := range conformanceChecks {
		if c.needs != nil && c.needs(s) != "" {
			continue
		}
		for _, f := range failuresOf(t, s.promises(), func(tr *checkRun) { c.run(&acquiring{tr, s}) }) {
			r, _, _ := strings.Cut(f, "\n")
			broken = append(broken, rule(r))
		}
	}
	return broken
}

func failuresOf(t *testing.T, p promises, run func(*checkRun)) (failures []string) {
	synctest.Test(t, func(t *testing.T) { failures = p.once(t, run) })
	return failures
}

func join(rules []rule) string {
	var b strings.Builder
	for _, r := range slices.Compact(slices.Sorted(slices.Values(rules))) {
		b.WriteString(string(r) + "\n\t")
	}
	return b.String()
}
