package slack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// filesMost bounds the files of a message that are kept.
const filesMost = 20

// missing is why a file cannot be had; it follows the file's name.
type missing string

const errNoScope = missing("cannot be read: the app lacks the scope files:read")

// Error implements error.
func (m missing) Error() string { return string(m) }

// files keeps the files that are attached to the message, as far as an agent can
// read them.
func (w *gathering) files(ctx context.Context) error {
	taken := map[string]bool{}
	for i, f := range w.Message.Files {
		if i == filesMost {
			w.note(fmt.Sprintf("%d more files: no more than %d are taken", len(w.Message.Files)-filesMost, filesMost))
			break
		}
		saved, err := w.keep(ctx, f, uniqueName(f.Name, taken))
		if why, is := errors.AsType[missing](err); is {
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

// keep keeps a file under a name.
func (w *gathering) keep(ctx context.Context, f domain.File, name string) (domain.SavedFile, error) {
	f, err := w.c.described(ctx, f)
	if err != nil {
		return domain.SavedFile{}, err
	}
	limit := w.c.o.FileLimit
	switch {
	case !isReadable(f):
		return domain.SavedFile{}, missing("is of a kind that cannot be read: " + cmp.Or(f.MIME, path.Ext(f.Name)))
	case f.Size > limit:
		return domain.SavedFile{}, missing(fmt.Sprintf("(%s) is larger than %s", inBytes(f.Size), inBytes(limit)))
	}
	body, err := w.c.fetch(ctx, f)
	if err != nil {
		return domain.SavedFile{}, err
	}
	defer body.Close()
	content := &bounded{from: body, left: limit}
	saved, err := w.Save(name, content)
	switch {
	case errors.Is(content.err, errTooLarge):
		return domain.SavedFile{}, missing("is larger than " + inBytes(limit))
	case content.err != nil:
		return domain.SavedFile{}, failure(fmt.Errorf("read the file %s: %w", name, content.err))
	case err != nil:
		return domain.SavedFile{}, fmt.Errorf("keep the file %s: %w", name, err)
	}
	return domain.SavedFile{Name: name, MIME: cmp.Or(f.MIME, mime.TypeByExtension(path.Ext(name)), "application/octet-stream"), Path: saved}, nil
}

// described is the file with what an event left out. Those of shared channels come
// as no more than their IDs.
func (c *Channel) described(ctx context.Context, f domain.File) (domain.File, error) {
	if f.URL != "" {
		return f, nil
	}
	err := c.call(ctx, "files.info", "", func(ctx context.Context) error {
		info, _, _, err := c.api.GetFileInfoContext(ctx, f.ID, 0, 0)
		if err == nil {
			f.Name, f.MIME, f.Size = cmp.Or(info.Name, f.Name), info.Mimetype, int64(info.Size)
			f.URL = cmp.Or(info.URLPrivateDownload, info.URLPrivate)
		}
		return err
	})
	return f, err
}

// fetch begins to fetch a file. The token goes to nobody but Slack.
func (c *Channel) fetch(ctx context.Context, f domain.File) (body io.ReadCloser, err error) {
	address, err := url.Parse(f.URL)
	if err != nil || !c.o.mayReceiveToken(address) {
		return nil, missing("is not kept by Slack")
	}
	err = c.call(ctx, "download", "", func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, f.URL, http.NoBody)
		if err != nil {
			return err
		}
		request.Header.Set("Authorization", "Bearer "+c.o.BotToken)
		response, err := c.files.Do(request)
		if err != nil {
			return err
		}
		if err := withheld(response, f); err != nil {
			_ = response.Body.Close()
			return err
		}
		body = response.Body
		return nil
	})
	return body, err
}

// withheld is why a response has no file in it. Who may not read a file is sent to a
// page to sign in.
func withheld(response *http.Response, f domain.File) error {
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	signIn := response.Request.URL.Query().Has("redir") || kind == "text/html" && !strings.HasPrefix(f.MIME, kind)
	switch response.StatusCode {
	case http.StatusOK:
		if !signIn {
			return nil
		}
		return errNoScope
	case http.StatusUnauthorized, http.StatusForbidden:
		return errNoScope
	case http.StatusNotFound, http.StatusGone:
		return missing("was deleted")
	}
	return status(response)
}

var errTooLarge = errors.New("the file is too large")

// bounded reads no more than is left, and remembers what went wrong.
type bounded struct {
	from io.Reader
	left int64
	err  error
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if b.left -= int64(n); b.left < 0 {
		err = errTooLarge
	}
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
	return n, err
}
