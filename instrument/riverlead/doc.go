// Package riverlead makes the leadership of a riverqueue/river client
// observable. River's leader schedules periodic jobs and cleans up:
//
//	err := riverlead.Observe(ctx, election, client)
//
// River elects its leader itself, so there is no call to wrap. [Observe] polls the
// row in which River stores its leader, through the client's own connections and
// in its schema. Attempts that did not win are not observable, nor is a term that
// began and ended between two polls.
package riverlead
