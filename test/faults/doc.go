// Package faults runs electors in processes of their own against real servers
// and breaks things: processes, connections, servers. Ten times a second it
// reads what every process would export, and holds it to what the core
// promises. The tests run with the build tag integration, through
// scripts/integration-backends.
package faults
