package memory

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// fileLimit is the largest file, in bytes, that is read whole and kept.
const fileLimit = 16 << 20

// Why a file cannot be used.
var (
	errNoFile   = errors.New("it is not a regular file; move it away")
	errTooLarge = fmt.Errorf("it is larger than %d MB; make it shorter", fileLimit>>20)
)

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
