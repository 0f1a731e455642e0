package main

import "syscall"

// ownGroup keeps Ctrl-C from a child, and has the kernel kill it when the
// parent dies, even when the child is suspended.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
