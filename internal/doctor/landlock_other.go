//go:build !linux

package doctor

import "errors"

// landlock returns the version of the kernel's Landlock ABI.
func landlock() (version int, err error) {
	return 0, errors.New("only available on Linux")
}
