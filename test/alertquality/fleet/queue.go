package fleet

import (
	"container/heap"
	"time"
)

// event is something that happens at a time.
type event struct {
	at   time.Duration
	turn uint64
	run  func()
}

// queue gives events in the order of their times; those of one time in the
// order in which they were pushed.
type queue struct {
	events events
	turns  uint64
}

func (q *queue) push(e event) {
	q.turns++
	e.turn = q.turns
	heap.Push(&q.events, e)
}

func (q *queue) pop() (event, bool) {
	if len(q.events) == 0 {
		return event{}, false
	}
	return heap.Pop(&q.events).(event), true
}

type events []event

func (e events) Len() int      { return len(e) }
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].turn < e[j].turn
}
func (e *events) Push(x any) { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	(*e)[last] = event{}
	*e = (*e)[:last]
	return x
}
