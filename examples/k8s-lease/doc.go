// K8s-lease shows client-go's leader election under the middleware, beside
// client-go's own gauge. Three candidates elect a leader on a Kubernetes
// Lease. The leader stops gracefully, and its successor is killed.
//
// node.go is the code of a service. play.go is the demonstration, cluster.go the
// API server that it starts.
package main
