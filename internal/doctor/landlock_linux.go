package doctor

import "golang.org/x/sys/unix"

// landlock returns the version of the kernel's Landlock ABI.
func landlock() (version int, err error) {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0, errno
	}
	return int(abi), nil
}
