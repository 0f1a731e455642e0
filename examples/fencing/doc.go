// Fencing shows what a lease cannot do and a token can. Two nodes write one
// ledger; a lease says whose turn it is. The writer is suspended just before a
// write, another takes over, and the first continues: it sends its write, and
// the ledger refuses it, because it has seen a higher token.
//
// node.go and ledger.go are what a service would write, play.go is the show.
package main
