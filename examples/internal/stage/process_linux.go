package stage

import "syscall"

// dieWithParent takes the child down even when the parent is killed.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
