// Package panels plays the scenarios of the alerts through the dashboards: what
// a panel says of a lock must not contradict the alert that fires for it.
package panels
