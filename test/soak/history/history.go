// Package history checks what was taken and given back as a lock's history,
// with porcupine: whether there is an order of all operations, each at some
// instant between its call and its return, in which no two hold the lock. How
// well a metric tells the holder does not belong here.
package history

import (
	"fmt"
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

// Check reports whether operations are a lock's. The check may take that long.
func Check(operations []Operation, limit time.Duration) Verdict {
	var all []porcupine.Operation
	for _, o := range operations {
		all = append(all, porcupine.Operation{Input: o, Call: int64(o.Call), Return: int64(o.Return)})
	}
	switch porcupine.CheckOperationsTimeout(model, all, limit) {
	case porcupine.Ok:
		return Legal
	case porcupine.Illegal:
		return Illegal
	default:
		return Undecided
	}
}
