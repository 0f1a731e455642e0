package main

import "syscall"

// ownGroup also has the kernel kill the child when the parent dies, even when
// the child is stopped.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// ownGroupThatSurvives is for the janitor.
func ownGroupThatSurvives() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
