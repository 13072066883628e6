package fs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/tool"
)

const editDescription = `Replace text in a file. old_text must match exactly, and only once unless replace_all is set.`

// editLimit is the largest file, in bytes, that is edited.
const editLimit = 16 << 20

type editArgs struct {
	Path       string `json:"path"`
	OldText    string `json:"old_text"`
	NewText    string `json:"new_text"`
	ReplaceAll bool   `json:"replace_all,omitempty"`
}

func (t tree) editFile(ctx context.Context, call tool.Call, args editArgs) (tool.Result, error) {
	switch args.OldText {
	case "":
		return tool.Result{}, errors.New("old_text is empty; give the text to replace, or use write_file for a whole file")
	case args.NewText:
		return tool.Result{}, errors.New("old_text and new_text are the same; nothing to do")
	}
	p, err := t.at(args.Path)
	if err != nil {
		return tool.Result{}, err
	}
	defer p.close()

	var c change
	old, err := p.content()
	if err != nil {
		c.refusal = explain(p.show(p.name), err)
	} else {
		c.before = hash(old)
		if err := args.check(old); err != nil {
			c.refusal = fmt.Errorf("%s was not changed: %w", p.show(p.name), err)
		}
		c.content = bytes.ReplaceAll(old, []byte(args.OldText), []byte(args.NewText))
	}
	earlier, err := p.apply(ctx, call, c)
	if err != nil {
		return tool.Result{}, err
	}
	text := "edited " + p.show(p.name)
	if !earlier {
		found := lineNumbers(old, args.OldText)
		text += fmt.Sprintf(": replaced %s at line %s", times(len(found)), list(found))
	}
	return tool.Result{Text: text + doneEarlier(earlier)}, nil
}

// content is all of a file that is small enough to be edited.
func (p place) content() ([]byte, error) {
	f, info, err := openToChange(p.root, p.name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	tooLarge := &kindError{fmt.Sprintf("is larger than %d MB, too large to edit; use exec with sed or the like", editLimit>>20)}
	if info.Size() > editLimit {
		return nil, tooLarge
	}
	content, err := io.ReadAll(io.LimitReader(f, editLimit+1))
	if err == nil && len(content) > editLimit {
		return nil, tooLarge
	}
	return content, err
}

// check says, for the model, why the edit cannot be made to content.
func (a editArgs) check(content []byte) error {
	found := lineNumbers(content, a.OldText)
	switch {
	case len(found) == 1, len(found) > 1 && a.ReplaceAll:
		return nil
	case len(found) > 1:
		return fmt.Errorf("old_text is in it %s, at lines %s; add lines around it to make it unique, or set replace_all",
			times(len(found)), list(found))
	}
	if strings.Contains(a.OldText, "\n") && !strings.Contains(a.OldText, "\r") && bytes.Contains(content, []byte("\r\n")) {
		return errors.New(`old_text is not in it; the lines of this file end with \r\n, so those of old_text must too`)
	}
	number, line := closest(content, a.OldText)
	if number == 0 {
		return errors.New("old_text is not in it, nor anything like it; read the file again")
	}
	return fmt.Errorf("old_text is not in it; the closest to its first line is line %d: %q; read the file there and copy the text exactly",
		number, line)
}

// lineNumbers are the lines, from 1, at which text begins, each place once.
func lineNumbers(content []byte, text string) []int {
	var found []int
	line := 1
	for {
		at := bytes.Index(content, []byte(text))
		if at < 0 {
			return found
		}
		line += bytes.Count(content[:at], []byte("\n"))
		found = append(found, line)
		line += strings.Count(text, "\n")
		content = content[at+len(text):]
	}
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// list names at most ten numbers.
func list(numbers []int) string {
	var out []string
	for i, n := range numbers {
		if i == 10 {
			return strings.Join(out, ", ") + ", …"
		}
		out = append(out, strconv.Itoa(n))
	}
	return strings.Join(out, ", ")
}
