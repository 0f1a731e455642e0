package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// verdict compares what a phase should set off with what it did.
type verdict struct {
	expected, fired []alarm
	// notes are what else the phase looked at; failed holds those that were
	// not as they should be.
	notes, failed []string
}

// missing are alarms that should have fired and did not.
func (v verdict) missing() []alarm { return without(v.expected, v.fired) }

// surplus are alarms that fired and should not have.
func (v verdict) surplus() []alarm { return without(v.fired, v.expected) }

// ok reports whether exactly the expected alarms fired and all else was right.
func (v verdict) ok() bool {
	return len(v.missing()) == 0 && len(v.surplus()) == 0 && len(v.failed) == 0
}

// satisfied reports whether every expected alarm is among those that fired.
func satisfied(expected, fired []alarm) bool { return len(without(expected, fired)) == 0 }

func without(a, b []alarm) []alarm {
	return slices.DeleteFunc(slices.Clone(a), func(x alarm) bool { return slices.Contains(b, x) })
}

func sorted(set map[alarm]bool) []alarm {
	return slices.SortedFunc(maps.Keys(set), func(a, b alarm) int {
		return cmp.Or(cmp.Compare(a.Lock, b.Lock), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Severity, b.Severity))
	})
}

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// locks gives labels their readable names. Only the parent knows them.
type locks map[string]string

// describe lists alarms by lock: "leader: NoLeader (critical)".
func (l locks) describe(alarms []alarm) string {
	if len(alarms) == 0 {
		return "nothing"
	}
	byLock := map[string][]string{}
	for _, a := range alarms {
		lock := cmp.Or(l[a.Lock], a.Lock)
		text := fmt.Sprintf("%s (%s)", strings.TrimPrefix(a.Name, prefix), a.Severity)
		byLock[lock] = append(byLock[lock], text)
	}
	var parts []string
	for _, lock := range sortedNames(byLock) {
		parts = append(parts, lock+": "+strings.Join(byLock[lock], ", "))
	}
	return strings.Join(parts, "; ")
}
