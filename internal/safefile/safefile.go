// Package safefile reads and writes files of a workspace, where anyone may have put
// anything: it opens only regular files and directories, never outside the root, does not
// block, and bounds what it reads.
package safefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/holdfast-ai/holdfast/internal/text"
)

// NotRegularError reports that a path is not a regular file.
type NotRegularError struct{ Mode fs.FileMode }

// Error implements error.
func (*NotRegularError) Error() string { return "not a regular file" }

// TooLargeError reports that a file has more than Limit bytes.
type TooLargeError struct{ Limit int }

// Error implements error.
func (e *TooLargeError) Error() string { return fmt.Sprintf("larger than %d bytes", e.Limit) }

// Open opens a regular file and refuses others with a [NotRegularError]: a FIFO would
// block, and a device could do anything. With [os.O_CREATE] it creates the file.
func Open(root *os.Root, name string, flag int) (*os.File, os.FileInfo, error) {
	// Check before opening, since opening alone can have effects, and again after it,
	// since the file may have been replaced in between.
	info, err := root.Stat(name)
	if err == nil {
		err = regular(info)
	}
	if err != nil && (flag&os.O_CREATE == 0 || !errors.Is(err, fs.ErrNotExist)) {
		return nil, nil, err
	}
	f, err := root.OpenFile(name, flag|syscall.O_NONBLOCK, 0o644)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err == nil {
		err = regular(info)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

func regular(info os.FileInfo) error {
	if mode := info.Mode(); !mode.IsRegular() {
		return &NotRegularError{mode}
	}
	return nil
}

// TryLock opens a file, creating it if necessary, and locks it until it is closed. It
// returns nil if another process, or another open file of this one, has the lock.
func TryLock(root *os.Root, name string) (*os.File, error) {
	f, mine, err := Open(root, name, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return nil, f.Close()
	}
	// Other errors come from file systems without locks; do without there. A lock on a
	// removed file excludes no one.
	if named, err := root.Lstat(name); err != nil || !os.SameFile(mine, named) {
		return nil, f.Close()
	}
	return f, nil
}

// Read returns the content of a file, or a [TooLargeError] if it has more than limit bytes.
func Read(root *os.Root, name string, limit int) ([]byte, error) {
	data, cut, err := head(root, name, limit)
	if cut {
		return nil, &TooLargeError{limit}
	}
	return data, err
}

// head returns at most the first limit bytes of a file, and whether there are more.
func head(root *os.Root, name string, limit int) (data []byte, cut bool, err error) {
	f, _, err := Open(root, name, os.O_RDONLY)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	data, err = io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return nil, false, err
	}
	return data[:min(len(data), limit)], len(data) > limit, nil
}

// Write writes a file, which it creates or truncates.
func Write(root *os.Root, name string, content io.Reader) error {
	f, _, err := Open(root, name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Close())
}

// ReadDir returns at most limit entries of a directory, sorted by name.
func ReadDir(root *os.Root, name string, limit int) ([]fs.DirEntry, error) {
	dir, err := root.OpenFile(name, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(limit)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// Text returns the text of a file for a prompt: valid UTF-8 without surrounding white
// space. Text beyond limit bytes is replaced by a note.
func Text(root *os.Root, name string, limit int) (content string, cut bool, err error) {
	data, cut, err := head(root, name, limit)
	if err != nil {
		return "", false, err
	}
	if cut {
		data = text.WholeRunes(data)
	}
	content = strings.TrimSpace(text.Clean(string(data)))
	if cut {
		content += fmt.Sprintf("\n\n… (cut: the first %d KB of %s)", limit>>10, name)
	}
	return content, cut, nil
}

// Excerpt is [Text] for a file that may be missing, or unreadable: the result is then
// empty, or a note that the agent can report.
func Excerpt(root *os.Root, name string, limit int) string {
	content, _, err := Text(root, name, limit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ""
	case err != nil:
		return fmt.Sprintf("(%s could not be read: %v)", name, err)
	}
	return content
}
