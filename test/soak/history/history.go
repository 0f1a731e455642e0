// Package history checks what was taken and given back as a lock's history,
// with porcupine: whether there is an order of all operations, each at some
// instant between its call and its return, in which no two hold the lock. How
// well a metric tells the holder does not belong here.
package history

import (
	"fmt"
	"math"
	"time"

	"github.com/anishathalye/porcupine"
)

// Kind is what an operation does.
type Kind string

const (
	// Take is an acquisition that succeeded.
	Take Kind = "take"
	// Free is the end of a term: by its holder, its lease end or an operator.
	Free Kind = "free"
)

// Operation is one change of the lock. It happened at some instant between
// Call and Return.
type Operation struct {
	Kind Kind
	// Term names what is taken and freed; no two terms share a name.
	Term         string
	Call, Return time.Duration
}

// Verdict is what a check found.
type Verdict string

const (
	// Legal is a history that a lock may have.
	Legal Verdict = "legal"
	// Illegal is one that no lock may have.
	Illegal Verdict = "illegal"
	// Undecided is one whose check took too long.
	Undecided Verdict = "undecided"
)

// model is a lock: its state is the term that holds it, empty when it is free.
var model = porcupine.Model{
	Init: func() any { return "" },
	Step: func(state, input, _ any) (bool, any) {
		o := input.(Operation)
		if o.Kind == Take {
			return state == "", o.Term
		}
		return state == o.Term, ""
	},
	DescribeOperation: func(input, _ any) string {
		o := input.(Operation)
		return fmt.Sprintf("%s %s", o.Kind, o.Term)
	},
}

// Check reports whether operations are a lock's, and of a history that is not
// what has no place in it. The check may take that long.
func Check(operations []Operation, limit time.Duration) (verdict Verdict, why string) {
	var all []porcupine.Operation
	for _, o := range operations {
		all = append(all, porcupine.Operation{Input: o, Call: int64(o.Call), Return: int64(o.Return)})
	}
	switch porcupine.CheckOperationsTimeout(model, all, limit) {
	case porcupine.Ok:
		return Legal, ""
	case porcupine.Illegal:
		return Illegal, stuck(all, limit)
	default:
		return Undecided, ""
	}
}

// stuck names the operation that ends the longest order that a lock may have,
// and who holds the lock then.
func stuck(all []porcupine.Operation, limit time.Duration) string {
	_, info := porcupine.CheckOperationsVerbose(model, all, limit)
	var longest []porcupine.Operation
	for _, partition := range info.PartialLinearizationsOperations() {
		for _, order := range partition {
			if len(order) > len(longest) {
				longest = order
			}
		}
	}
	placed := map[Operation]bool{}
	holder := Operation{}
	for _, p := range longest {
		o := p.Input.(Operation)
		placed[o] = true
		if holder = o; o.Kind == Free {
			holder = Operation{}
		}
	}
	next := Operation{Return: math.MaxInt64}
	for _, p := range all {
		if o := p.Input.(Operation); !placed[o] && o.Return < next.Return {
			next = o
		}
	}
	if holder.Term == "" {
		return fmt.Sprintf("no place for %v, when the lock is free", next)
	}
	return fmt.Sprintf("no place for %v, after %v", next, holder)
}

// String names the operation and its time in the run.
func (o Operation) String() string {
	return fmt.Sprintf("%s %s (%.3f s to %.3f s)", o.Kind, o.Term, o.Call.Seconds(), o.Return.Seconds())
}
