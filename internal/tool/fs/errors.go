package fs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/holdfast-ai/holdfast/internal/tool"
)

// kindError reports that a path is not a file that can be used.
type kindError struct{ text string }

func (e *kindError) Error() string { return e.text }

func regular(info os.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return &kindError{"is a directory; use list_dir"}
	case mode&os.ModeNamedPipe != 0:
		return &kindError{"is a named pipe, not a regular file"}
	case mode&os.ModeDevice != 0:
		return &kindError{"is a device, not a regular file"}
	default:
		return &kindError{"is not a regular file"}
	}
}

// explain turns err into an error for the model about the path shown.
func explain(shown string, err error) error {
	if kind, ok := errors.AsType[*kindError](err); ok {
		return fmt.Errorf("%s %w", shown, kind)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist; use find_files or list_dir", shown)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: permission denied", shown)
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%s: a part of the path is not a directory", shown)
	case errors.Is(err, syscall.ENAMETOOLONG):
		return errors.New("the path or a name in it is too long")
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%s was not written: the disk or quota is full; free some space or tell the user", shown)
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%s was not written: the file system is read-only; tell the user", shown)
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return fmt.Errorf("%w: %s: %w", tool.ErrRetry, shown, err)
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return fmt.Errorf("%s: %w", shown, errno)
	}
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		// Path errors without an errno come from os.Root itself.
		return fmt.Errorf("%s leads outside the workspace through a symbolic link", shown)
	}
	return fmt.Errorf("%s: %w", shown, err)
}
