package shell

import "golang.org/x/sys/unix"

// bootID returns an ID that changes with each boot.
func bootID() (string, error) { return unix.Sysctl("kern.bootsessionuuid") }
