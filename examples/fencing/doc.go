// Fencing demonstrates what a fencing token prevents and a lease does not. Two
// nodes write one ledger; a lease decides which one. The writer is suspended just before a
// write, another takes over, and the first continues: it sends its write, and
// the ledger refuses it, because it has seen a higher token.
//
// node.go and ledger.go are the code of a service, play.go is the demonstration.
package main
