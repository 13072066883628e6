package memory

import "golang.org/x/sys/unix"

func swap(dir int, a, b string) error {
	return unix.RenameatxNp(dir, a, dir, b, unix.RENAME_SWAP)
}
