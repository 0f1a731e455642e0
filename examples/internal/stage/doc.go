// Package stage is what the examples play on: private servers, and copies of
// the running program as nodes that can be killed, suspended and read. Nothing of it is needed to use leaderscope; a service is in an
// example's node.go.
package stage
