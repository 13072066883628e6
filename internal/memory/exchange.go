package memory

import (
	"errors"
	"os"
	"syscall"
)

// exchange swaps two files of a folder atomically. It returns
// [errors.ErrUnsupported] if the system or file system cannot.
func exchange(root *os.Root, a, b string) error {
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	err = swap(int(dir.Fd()), a, b)
	if errors.Is(err, syscall.EINVAL) {
		return errors.ErrUnsupported
	}
	return err
}
