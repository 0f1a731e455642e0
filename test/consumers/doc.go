// Package consumers holds the tests that read generated files with the code of
// those who load them: the types of the Prometheus Operator and of Kubernetes,
// Alertmanager, jsonnet. They are in the module of the tests so that no user of
// leaderscope inherits them.
package consumers
