package fs

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/holdfast-ai/holdfast/internal/safefile"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

// kindError reports that a file cannot be used. Its text follows the path.
type kindError struct{ text string }

func (e *kindError) Error() string { return e.text }

// irregular describes what is not a regular file.
func irregular(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "is a directory; use list_dir"
	case mode&fs.ModeNamedPipe != 0:
		return "is a named pipe, not a regular file"
	case mode&fs.ModeDevice != 0:
		return "is a device, not a regular file"
	default:
		return "is not a regular file"
	}
}

// explain turns err into an error for the model about the path shown.
func explain(shown string, err error) error {
	if kind, ok := errors.AsType[*kindError](err); ok {
		return fmt.Errorf("%s %w", shown, kind)
	}
	if other, ok := errors.AsType[*safefile.NotRegularError](err); ok {
		return fmt.Errorf("%s %s", shown, irregular(other.Mode))
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
