// Package libraries holds what package instrument promises about libraries
// that it does not import: that their types satisfy its interfaces, and that
// an elector of each, in the few lines that closures_test.go shows,
// passes the conformance suite. It has tests only.
package libraries
