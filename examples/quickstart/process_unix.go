//go:build unix && !linux

package main

import "syscall"

// ownGroup leaves it to the child to notice that its standard input ended. A
// child that is stopped notices when it is continued.
func ownGroup() *syscall.SysProcAttr { return ownGroupThatSurvives() }

// ownGroupThatSurvives is for the janitor.
func ownGroupThatSurvives() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
