// Package riverlead makes the leadership of a riverqueue/river client
// observable, whose leader schedules periodic jobs and cleans up:
//
//	err := riverlead.Observe(ctx, election, client)
//
// River elects by itself and cannot be wrapped. [Observe] looks at the row in
// which River keeps its leader, through the client's own connections and in its
// schema. Attempts that did not win are not seen, nor is a term that began and
// ended between two looks.
package riverlead
