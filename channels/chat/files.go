package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// maxFiles bounds the files of a message that are saved.
const maxFiles = 20

// files saves the attached files.
func (w *enrichment) files(ctx context.Context) error {
	files, ok := w.platform.(Files)
	if !ok {
		return nil
	}
	taken := map[string]bool{}
	for i, f := range w.Message.Files {
		if i == maxFiles {
			w.note(fmt.Sprintf("%d more files ignored: the limit is %d", len(w.Message.Files)-maxFiles, maxFiles))
			break
		}
		f, saved, err := w.fetch(ctx, files, f, taken)
		if why, is := errors.AsType[Unreadable](err); is {
			w.note(f.Name + " " + string(why))
			continue
		}
		if err := w.lacking(f.Name, err); err != nil {
			return err
		}
		if err == nil {
			w.out.Files = append(w.out.Files, saved)
		}
	}
	return nil
}

// fetch saves a file under a name that is not taken, and returns its description.
func (w *enrichment) fetch(ctx context.Context, files Files, f domain.File, taken map[string]bool) (domain.File, domain.SavedFile, error) {
	described, err := files.Describe(ctx, f)
	if err != nil {
		return f, domain.SavedFile{}, err
	}
	saved, err := w.save(ctx, files, described, uniqueName(described.Name, taken))
	return described, saved, err
}

// save saves a file under a name, whatever it contains: the agent can unpack or convert it.
func (w *enrichment) save(ctx context.Context, files Files, f domain.File, name string) (saved domain.SavedFile, err error) {
	limit := w.o.FileLimit
	if f.Size > limit {
		return saved, Unreadable(fmt.Sprintf("(%s) is larger than %s", inBytes(f.Size), inBytes(limit)))
	}
	body, err := files.Fetch(ctx, f)
	if err != nil {
		return saved, err
	}
	defer body.Close()
	content := &bounded{from: body, left: limit}
	at, err := w.Save(name, content)
	switch {
	case errors.Is(content.err, errTooLarge):
		return saved, Unreadable("is larger than " + inBytes(limit))
	case content.err != nil:
		return saved, &remote.Error{Service: w.platform.Name(), Err: fmt.Errorf("read the file %s: %w", name, content.err)}
	case err != nil:
		return saved, fmt.Errorf("save the file %s: %w", name, err)
	}
	if kind := http.DetectContentType(content.head); strings.HasPrefix(f.MIME, "image/") && strings.HasPrefix(kind, "image/") {
		f.MIME = kind // platforms that do not say it call every picture a JPEG
	}
	return domain.SavedFile{Name: name, MIME: cmp.Or(f.MIME, mime.TypeByExtension(path.Ext(name)), "application/octet-stream"), Path: at, Transcribed: f.Transcribed}, nil
}

var errTooLarge = errors.New("the file is too large")

// bounded reads at most left bytes and records how they begin and what went wrong.
type bounded struct {
	from io.Reader
	left int64
	head []byte
	err  error
}

const headSize = 512 // bytes, by which a type is recognized

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	b.head = append(b.head, p[:min(n, headSize-len(b.head))]...)
	if b.left -= int64(n); b.left < 0 {
		err = errTooLarge
	}
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
	return n, err
}
