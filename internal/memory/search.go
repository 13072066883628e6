package memory

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/safefile"
)

const searchLimit = 16 << 20 // bytes, from the end of a history

var markerLine = regexp.MustCompile(`(?m)^<!--.*-->\s*$`)

// Search returns up to limit entries of a scope's history that contain at least one
// of the words, ignoring case: those with the most words first, then the newest.
func (f *Files) Search(scope Scope, words []string, limit int) ([]string, error) {
	root, err := f.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	text, err := tail(root, scope.file(historyFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("search %s: %w", scope.file(historyFile), err)
	}
	type hit struct {
		entry string
		words int
	}
	var hits []hit
	for _, entry := range slices.Backward(blankLines.Split(markerLine.ReplaceAllString(text, ""), -1)) {
		if n := count(entry, words); n > 0 {
			hits = append(hits, hit{strings.TrimSpace(entry), n})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.words, a.words) })
	var entries []string
	for _, h := range hits[:min(limit, len(hits))] {
		entries = append(entries, h.entry)
	}
	return entries, nil
}

// count returns how many of the words an entry contains.
func count(entry string, words []string) int {
	entry = strings.ToLower(entry)
	n := 0
	for _, word := range words {
		if word != "" && strings.Contains(entry, strings.ToLower(word)) {
			n++
		}
	}
	return n
}

// tail returns the end of a file's text.
func tail(root *os.Root, name string) (string, error) {
	file, info, err := safefile.Open(root, name, os.O_RDONLY)
	if err != nil {
		return "", err
	}
	defer file.Close()
	if info.Size() > searchLimit {
		if _, err := file.Seek(-searchLimit, io.SeekEnd); err != nil {
			return "", err
		}
	}
	data, err := io.ReadAll(io.LimitReader(file, searchLimit))
	return clean(data), err
}
