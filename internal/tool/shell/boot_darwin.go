package shell

import "golang.org/x/sys/unix"

// bootID names the time since the kernel started.
func bootID() (string, error) { return unix.Sysctl("kern.bootsessionuuid") }
