// Package integration holds tests against real servers. They run with the
// build tag integration, through scripts/integration, which brings the
// servers; without the tag there is nothing here.
package integration
