//go:build !linux

package doctor

import "errors"

// landlock returns the version of the kernel's Landlock, or why there is none.
func landlock() (version int, err error) {
	return 0, errors.New("it is Linux only")
}
