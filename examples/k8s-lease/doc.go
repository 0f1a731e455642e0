// K8s-lease shows client-go's leader election under the middleware, beside
// client-go's own gauge. Three candidates elect a leader on a Kubernetes
// Lease. The leader stops gracefully, and its successor is killed.
//
// node.go is what a service would write. The rest is the stage: cluster.go
// finds or starts an API server, process.go runs the nodes, play.go the show.
package main
