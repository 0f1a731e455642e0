// Package consumers holds the tests that read generated files with the code of
// those who load them: the types of the Prometheus Operator and of Kubernetes,
// Alertmanager, jsonnet. It is a module of its own so that nobody who uses
// leaderscope inherits them.
package consumers
