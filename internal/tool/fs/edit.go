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

const editLimit = 16 << 20 // bytes of a file

type editArgs struct {
	Path       string `json:"path"`
	OldText    string `json:"old_text"`
	NewText    string `json:"new_text"`
	ReplaceAll bool   `json:"replace_all,omitempty"`
}

func (t tree) editFile(ctx context.Context, call tool.Call, args editArgs) (tool.Result, error) {
	switch args.OldText {
	case "":
		return tool.Result{}, errors.New("old_text is empty; use write_file to write a whole file")
	case args.NewText:
		return tool.Result{}, errors.New("old_text and new_text are the same")
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

// content returns the content of a file that is small enough to be edited.
func (p place) content() ([]byte, error) {
	f, err := openToChange(p.root, p.name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, editLimit+1))
	if err == nil && len(content) > editLimit {
		return nil, &kindError{fmt.Sprintf("is larger than %d MB, too large to edit; use exec, for example with sed", editLimit>>20)}
	}
	return content, err
}

// check returns why the edit does not apply to content, for the model.
func (a editArgs) check(content []byte) error {
	found := lineNumbers(content, a.OldText)
	switch {
	case len(found) == 1, len(found) > 1 && a.ReplaceAll:
		return nil
	case len(found) > 1:
		return fmt.Errorf("old_text occurs %s, at lines %s; add surrounding lines to make it unique, or set replace_all",
			times(len(found)), list(found))
	}
	if strings.Contains(a.OldText, "\n") && !strings.Contains(a.OldText, "\r") && bytes.Contains(content, []byte("\r\n")) {
		return errors.New(`old_text was not found; the lines of this file end with \r\n, so those of old_text must as well`)
	}
	number, line := closest(content, a.OldText)
	if number == 0 {
		return errors.New("old_text was not found, nor anything similar; read the file again")
	}
	return fmt.Errorf("old_text was not found; the line most similar to its first line is line %d: %q; read the file there and copy the text exactly",
		number, line)
}

// lineNumbers returns the lines, from 1, at which the occurrences of text start.
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

// list formats up to ten numbers.
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
