package memory

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"unicode/utf8"

	"github.com/holdfast-ai/holdfast/internal/safefile"
)

// fileLimit is the largest file, in bytes, that is read and saved.
const fileLimit = 16 << 20

// ErrUnusable reports that a memory file or folder needs a person's attention. The
// error that wraps it names it and says what to do.
var ErrUnusable = errors.New("cannot be used")

// Reasons why a file cannot be used.
var (
	errLink     = errors.New("a symbolic link; replace it with the file itself")
	errTooLarge = fmt.Errorf("larger than %d MB; shorten it", fileLimit>>20)
	errTooLong  = fmt.Errorf("longer than the %d KB that fit into a prompt; shorten it", Limit>>10)
	errNotText  = errors.New("not UTF-8; save it as UTF-8")
)

// unusable wraps an error about a file or folder that a person has to fix.
func unusable(err error) error {
	if failed, ok := errors.AsType[*safefile.NotRegularError](err); ok {
		return fmt.Errorf("%w: %w; move it away", ErrUnusable, failed)
	}
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%w: %w; put it into the workspace, readable and writable by this user", ErrUnusable, failed.Err)
	}
	return fmt.Errorf("%w: %w", ErrUnusable, err)
}

// consolidable returns why a model could not reproduce these facts, or nil.
func consolidable(content []byte) error {
	switch {
	case len(content) > Limit:
		return errTooLong
	case !utf8.Valid(content), bytes.IndexByte(content, 0) >= 0: // UTF-16 is full of zeros
		return errNotText
	}
	return nil
}

// readOwn is [read] for a file that will be replaced. It refuses symbolic links:
// replacing one would replace the link, not its target.
func readOwn(root *os.Root, name string) (snapshot, error) {
	if info, err := root.Lstat(name); err == nil && info.Mode().Type() == fs.ModeSymlink {
		return snapshot{}, errLink
	}
	return read(root, name)
}

// snapshot is a file's content at one moment. A missing file is the zero value.
type snapshot struct {
	content []byte
	hash    string
	mode    os.FileMode
}

// read takes a snapshot of a file. It follows links within root.
func read(root *os.Root, name string) (snapshot, error) {
	f, info, err := safefile.Open(root, name, os.O_RDONLY)
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

// openFolder opens a folder, and creates it durably if it does not exist.
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

// syncFolder syncs the entries of a folder to disk.
func syncFolder(root *os.Root, name string) error {
	dir, err := root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
