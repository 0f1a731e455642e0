//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package output

import "os"

// lock does nothing on this system: concurrent runs are not refused.
func lock(*os.Root) (unlock func(), err error) { return func() {}, nil }
