package memory

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
	"unicode/utf8"
)

// fileLimit is the largest file, in bytes, that is read whole and kept.
const fileLimit = 16 << 20

// ErrUnusable says that a file or folder of memory cannot be used before a person
// has done something about it: the error that wraps it says what, and names it.
var ErrUnusable = errors.New("it cannot be used")

// Why a file cannot be used.
var (
	errNoFile   = errors.New("it is not a regular file; move it away")
	errLink     = errors.New("it is a link; put the file itself in its place")
	errTooLarge = fmt.Errorf("it is larger than %d MB; make it shorter", fileLimit>>20)
	errTooLong  = fmt.Errorf("it is longer than the %d KB that go into a prompt; shorten it", Limit>>10)
	errNotText  = errors.New("it is not UTF-8, and to change it would spoil its letters; save it as UTF-8")
)

// unusable makes an error about a file or folder one for a person to solve.
func unusable(err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%w: %w; put it into the workspace itself, where this user may read and write it", ErrUnusable, failed.Err)
	}
	return fmt.Errorf("%w: %w", ErrUnusable, err)
}

// consolidable is why facts cannot be given to a model and come back as they
// were; nil if they can.
func consolidable(content []byte) error {
	switch {
	case len(content) > Limit:
		return errTooLong
	case !utf8.Valid(content), bytes.IndexByte(content, 0) >= 0: // UTF-16 is full of zeros
		return errNotText
	}
	return nil
}

// readOwn is [read] of a file that will be replaced: a link would be replaced
// itself, not what it leads to.
func readOwn(root *os.Root, name string) (snapshot, error) {
	info, err := root.Lstat(name)
	switch {
	case err == nil && info.Mode().Type() == fs.ModeSymlink:
		return snapshot{}, errLink
	case err == nil && !info.Mode().IsRegular():
		return snapshot{}, errNoFile
	}
	return read(root, name)
}

// snapshot is a file as it was at one moment. A missing file is the zero value.
type snapshot struct {
	content []byte
	hash    string
	mode    os.FileMode
}

// read takes a snapshot of a file. A link is followed if it stays in root.
func read(root *os.Root, name string) (snapshot, error) {
	f, info, err := openRegular(root, name, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return snapshot{}, nil
	}
	if err != nil {
		return snapshot{}, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, fileLimit+1))
	if err != nil {
		return snapshot{}, err
	}
	if len(content) > fileLimit {
		return snapshot{}, errTooLarge
	}
	return snapshot{content: content, hash: hashOf(content), mode: info.Mode().Perm()}, nil
}

// openRegular opens a regular file and nothing else: a pipe would block. With
// [os.O_CREATE] it may be made.
func openRegular(root *os.Root, name string, flag int) (*os.File, os.FileInfo, error) {
	info, err := root.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		return nil, nil, errNoFile
	}
	if err != nil && (flag&os.O_CREATE == 0 || !errors.Is(err, fs.ErrNotExist)) {
		return nil, nil, err
	}
	f, err := root.OpenFile(name, flag|syscall.O_NONBLOCK, 0o644)
	if err != nil {
		return nil, nil, err
	}
	info, err = f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNoFile
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// openFolder opens a folder, and makes it, durably, if it is not there.
func openFolder(root *os.Root, name string) (*os.Root, error) {
	if err := makeFolder(root, name); err != nil {
		return nil, err
	}
	return root.OpenRoot(name)
}

func makeFolder(root *os.Root, name string) error {
	if name == "." {
		return nil
	}
	if err := makeFolder(root, path.Dir(name)); err != nil {
		return err
	}
	err := root.Mkdir(name, 0o755)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return syncFolder(root, path.Dir(name))
}

// syncFolder puts the entries of a folder on the disk.
func syncFolder(root *os.Root, name string) error {
	dir, err := root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
