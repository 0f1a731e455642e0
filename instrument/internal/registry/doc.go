// Package registry is the one place with the map from lock names to handles
// and labels: names, labels, the cap on labels, collisions, and what is
// attached. It keeps digests of names and never a name.
//
// What a term or a renewal means does not belong here: package lock decides
// that, and this package adds up what the locks of a label know.
package registry
