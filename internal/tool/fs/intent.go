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

	"github.com/holdfast-ai/holdfast/internal/safefile"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

const partLimit = 200 // bytes of a journal key

// intent is the journal entry that a call writes before it changes a file. Hashes
// are hex SHA-256 of the content, empty for a missing file.
type intent struct {
	Path    string `json:"path"`
	Before  string `json:"before"`
	After   string `json:"after"`
	Refused string `json:"refused,omitempty"` // why the file is not changed
}

// note journals want, and returns the intent that the call's first attempt journalled.
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
		return intent{}, false, fmt.Errorf("%w: journal the change: %w", tool.ErrRetry, err)
	}
	var noted intent
	if err := json.Unmarshal(stored, &noted); err != nil {
		return intent{}, false, fmt.Errorf("%w: read the journal: %w", tool.ErrOutcomeUnknown, err)
	}
	return noted, fresh, nil
}

func hash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// fingerprint returns the hash of a file, empty if it does not exist.
func fingerprint(root *os.Root, name string) (string, error) {
	f, err := openToChange(root, name)
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

// openToChange opens a file for reading that will be replaced. It refuses symbolic
// links, since a rename would replace the link itself.
func openToChange(root *os.Root, name string) (*os.File, error) {
	if target, err := root.Readlink(name); err == nil {
		return nil, &kindError{fmt.Sprintf("is a symbolic link to %s; change that file, or remove the link first", target)}
	}
	f, _, err := safefile.Open(root, name, os.O_RDONLY)
	return f, err
}
