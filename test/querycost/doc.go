// Command querycost measures what the queries of the dashboards and the rules
// cost on a fleet that it makes up: the panels on a real Prometheus server, the
// rule groups in Prometheus' engine. It prints docs/query-cost.md. How many
// series a query reads is the concern of the tests of dashboards.
package main
