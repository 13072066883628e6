package fs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/holdfast-ai/holdfast/internal/tool"
)

// kindError says that something is there, but not a regular file.
type kindError struct{ text string }

func (e *kindError) Error() string { return e.text }

func regular(info os.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return &kindError{"is a directory, not a file; list_dir shows what is in it"}
	case mode&os.ModeNamedPipe != 0:
		return &kindError{"is a named pipe; only regular files can be used"}
	case mode&os.ModeDevice != 0:
		return &kindError{"is a device; only regular files can be used"}
	default:
		return &kindError{"is not a regular file; only those can be used"}
	}
}

// explain says to a model what err means for the path shown, and what to try.
func explain(shown string, err error) error {
	if kind, ok := errors.AsType[*kindError](err); ok {
		return fmt.Errorf("%s %w", shown, kind)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist; find_files and list_dir show what does", shown)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: permission denied", shown)
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%s: a part of the path is a file where a directory should be", shown)
	case errors.Is(err, syscall.ENAMETOOLONG):
		return errors.New("the path, or a name in it, is too long; use a shorter one")
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%s was not written: the disk or the quota is full; tell the user, or make room", shown)
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%s was not written: the file system is read-only; tell the user", shown)
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return fmt.Errorf("%w: %s: %w", tool.ErrRetry, shown, err)
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return fmt.Errorf("%s: %w", shown, errno)
	}
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		// Only os.Root itself makes path errors that are not the system's.
		return fmt.Errorf("%s leads outside the workspace through a symbolic link; only paths inside it are allowed", shown)
	}
	return fmt.Errorf("%s: %w", shown, err)
}
