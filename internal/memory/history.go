package memory

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/internal/failpoint"
	"github.com/holdfast-ai/holdfast/internal/safefile"
	"github.com/holdfast-ai/holdfast/internal/text"
)

const entryLimit = 16 << 10 // bytes of a history entry

const stampLayout = "[2006-01-02 15:04]"

var (
	stamp      = regexp.MustCompile(`^\[\d{4}-\d{2}-\d{2} \d{2}:\d{2}\]`)
	blankLines = regexp.MustCompile(`\n\s*\n`)
)

// AppendHistory appends an entry to the history of a scope, once per id: the file
// records the id with the entry, so a retry does not append it again. An entry
// without a leading time, [YYYY-MM-DD HH:MM], gets at, in the zone of at. The entry
// is durable on return.
func (f *Files) AppendHistory(ctx context.Context, scope Scope, id, entry string, at time.Time) error {
	name := scope.file(historyFile)
	entry = paragraph(entry)
	if id == "" || entry == "" {
		return fmt.Errorf("append to %s: ID and entry are required", name)
	}
	if !stamp.MatchString(entry) {
		entry = at.Format(stampLayout) + " " + entry
	}
	return f.locked(ctx, scope.folder(), func(dir *os.Root) error {
		if err := appendOnce(ctx, dir, entry, marker(id)); err != nil {
			return fmt.Errorf("append to %s: %w", name, err)
		}
		return nil
	})
}

// paragraph joins an entry to one paragraph and escapes comments, so that it
// cannot imitate a marker.
func paragraph(entry string) string {
	entry = blankLines.ReplaceAllString(clean([]byte(entry)), "\n")
	entry = strings.ReplaceAll(entry, "<!--", "<!- -")
	return text.Cut(entry, entryLimit)
}

// marker returns the line that identifies an entry and follows it. Adjacent hyphens
// are escaped: they would end the comment.
func marker(id string) string {
	var out strings.Builder
	for i := range len(id) {
		c := id[i]
		switch {
		case c == '-' && (i == 0 || id[i-1] == '-' || i == len(id)-1), c <= ' ', c >= 0x7f, c == '<', c == '>', c == '%':
			fmt.Fprintf(&out, "%%%02X", c)
		default:
			out.WriteByte(c)
		}
	}
	return "<!-- " + out.String() + " -->"
}

func appendOnce(ctx context.Context, dir *os.Root, entry, marker string) error {
	for {
		again, err := tryAppend(dir, entry, marker)
		if err != nil || !again {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// tryAppend appends the entry unless the file has its marker. again reports that an
// editor replaced the file in the meantime, so the entry went into the old one.
func tryAppend(dir *os.Root, entry, marker string) (again bool, err error) {
	f, info, err := safefile.Open(dir, historyFile, os.O_RDWR|os.O_CREATE|os.O_APPEND)
	if err != nil {
		return false, unusable(err)
	}
	defer f.Close()
	there, ending, err := scan(f, marker)
	if err != nil {
		return false, err
	}
	if !there {
		if err := write(f, info.Size(), separator(ending)+entry+"\n"+marker+"\n"); err != nil {
			return false, err
		}
	}
	failpoint.Hit("memory.appended")
	if err := f.Sync(); err != nil {
		return false, err
	}
	if err := syncFolder(dir, "."); err != nil {
		return false, err
	}
	named, err := dir.Stat(historyFile)
	return err != nil || !os.SameFile(info, named), nil
}

// write appends text to a file of the given size, entirely or, on a full disk, not
// at all.
func write(f *os.File, size int64, text string) error {
	n, err := f.WriteString(text)
	if err == nil || n == 0 {
		return err
	}
	if now, statErr := f.Stat(); statErr == nil && now.Size() == size+int64(n) {
		err = errors.Join(err, f.Truncate(size))
	}
	return err
}

// scan looks for a line that is the marker. It returns the last line including its
// line break.
func scan(r io.Reader, marker string) (there bool, last string, err error) {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		there = there || strings.TrimSpace(line) == marker
		if line != "" {
			last = line
		}
		if errors.Is(err, io.EOF) {
			return there, last, nil
		}
		if err != nil {
			return false, "", err
		}
	}
}

// separator returns what makes a blank line after a file's last line.
func separator(last string) string {
	switch {
	case strings.TrimSpace(last) == "" && (last == "" || strings.HasSuffix(last, "\n")):
		return ""
	case strings.HasSuffix(last, "\n"):
		return "\n"
	default:
		return "\n\n"
	}
}
