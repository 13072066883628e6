package fs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/holdfast-ai/holdfast/internal/tool"
)

// partLimit bounds, in bytes, the name of an intent: databases bound their keys.
const partLimit = 200

// intent is what a call notes in its journal before it changes a file. Hashes
// are hex SHA-256 of the content, empty for a file that is not there.
type intent struct {
	Path    string `json:"path"`
	Before  string `json:"before"`
	After   string `json:"after"`
	Refused string `json:"refused,omitempty"` // nothing is done, for this reason
}

// note stores want, and returns what the first attempt at the call stored.
func note(ctx context.Context, journal tool.Journal, want intent) (intent, bool, error) {
	data, err := json.Marshal(want)
	if err != nil {
		return intent{}, false, fmt.Errorf("encode intent: %w", err)
	}
	part := want.Path
	if len(part) > partLimit {
		part = hash([]byte(part))
	}
	stored, fresh, err := journal.Intend(ctx, part, data)
	if err != nil {
		return intent{}, false, fmt.Errorf("%w: note the change before making it: %w", tool.ErrRetry, err)
	}
	var noted intent
	if err := json.Unmarshal(stored, &noted); err != nil {
		return intent{}, false, fmt.Errorf("%w: the note of it cannot be read: %w", tool.ErrOutcomeUnknown, err)
	}
	return noted, fresh, nil
}

func hash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// fingerprint gives the hash of the file called name, empty if there is none.
func fingerprint(root *os.Root, name string) (string, error) {
	f, _, err := openToChange(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// openToChange opens, for reading, a file that is to be replaced. It refuses a
// link to a file: a rename would put the new content in the place of the link.
func openToChange(root *os.Root, name string) (*os.File, os.FileInfo, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if info.Mode()&os.ModeSymlink != 0 {
		target, err := root.Readlink(name)
		if err != nil {
			return nil, nil, err
		}
		return nil, nil, &kindError{fmt.Sprintf("is a symbolic link to %s; change that file instead, or remove the link first", target)}
	}
	return openRegular(root, name)
}
