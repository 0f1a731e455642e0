//go:build unix && !linux

package main

import "syscall"

// ownGroup keeps Ctrl-C from a child. That its parent has died the child
// notices at the end of its standard input, when it is not suspended.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
