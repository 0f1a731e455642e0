// Package fencing suspends leaders past their lease, in processes of their own,
// and looks at what real stores then let through: package fence in front of
// etcd, PostgreSQL, MariaDB, Redis and an HTTP service. The tests run with the
// build tag integration, through scripts/integration-backends.
package fencing
