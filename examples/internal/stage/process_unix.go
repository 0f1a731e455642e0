//go:build unix && !linux

package stage

import "syscall"

// dieWithParent can do nothing here: a node notices that its standard input
// ended, a server stays when the parent is killed.
func dieWithParent(*syscall.SysProcAttr) {}
