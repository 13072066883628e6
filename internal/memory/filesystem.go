package memory

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/holdfast-ai/holdfast/internal/safefile"
)

// What a workspace may lack, see [CheckFileSystem].
var (
	// ErrNoLock means that processes do not see each other's locks.
	ErrNoLock = errors.New("no locks between processes")
	// ErrLocalLock means that machines do not see each other's locks.
	ErrLocalLock = errors.New("no locks between machines")
	// ErrNoExchange means that two files cannot be exchanged atomically.
	ErrNoExchange = errors.New("no atomic exchange of files")
)

// CheckFileSystem tries whether the file system of the workspace has what writers of memory
// files need not to lose each other's changes, and returns what it lacks.
func CheckFileSystem(workspace string) error {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return fmt.Errorf("open workspace: %w", err)
	}
	defer root.Close()
	if err := makeFolder(root, folder); err != nil {
		return fmt.Errorf("create the memory folder: %w", err)
	}
	name, err := os.MkdirTemp(filepath.Join(workspace, folder), ".check-")
	if err != nil {
		return fmt.Errorf("create a folder for the check: %w", err)
	}
	defer os.RemoveAll(name)
	tried, err := os.OpenRoot(name)
	if err != nil {
		return fmt.Errorf("open the folder for the check: %w", err)
	}
	defer tried.Close()
	return errors.Join(checkLock(tried), checkExchange(tried), checkMount(workspace))
}

// checkLock takes a lock twice; the second attempt must fail.
func checkLock(root *os.Root) error {
	first, _, err := safefile.Open(root, "lock", os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	defer first.Close()
	second, _, err := safefile.Open(root, "lock", os.O_RDWR)
	if err != nil {
		return err
	}
	defer second.Close()
	if err := syscall.Flock(int(first.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return fmt.Errorf("%w: %w", ErrNoLock, err)
	}
	if err := syscall.Flock(int(second.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
		return ErrNoLock
	}
	return nil
}

func checkExchange(root *os.Root) error {
	for _, name := range []string{"a", "b"} {
		if err := root.WriteFile(name, nil, 0o600); err != nil {
			return err
		}
	}
	if err := exchange(root, "a", "b"); err != nil {
		return fmt.Errorf("%w: %w", ErrNoExchange, err)
	}
	return nil
}
