package matrix

import (
	"context"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// mediaURI matches the address of a file: its server and ID.
var mediaURI = regexp.MustCompile(`^mxc://([A-Za-z0-9.:\[\]-]+)/([A-Za-z0-9_-]+)$`)

// upload stores a file and returns the message that shows it, with its description.
func (p *platform) upload(ctx context.Context, msg chat.Message) (content, error) {
	kind := mime.TypeByExtension(path.Ext(msg.File))
	if kind == "" {
		kind = http.DetectContentType(msg.Content)
	}
	var stored struct {
		URI string `json:"content_uri"`
	}
	err := p.limits.Do(ctx, "upload", "", false, func(ctx context.Context) error {
		return p.call(ctx, request{
			name: "upload", method: http.MethodPost, path: "/_matrix/media/v3/upload", query: url.Values{"filename": {msg.File}},
			kind: kind, content: msg.Content, timeout: fileTimeout,
		}, &stored)
	})
	c := render(msg)
	if msg.Text == "" {
		c.Body, c.Format, c.Formatted = msg.File, "", ""
	}
	c.MsgType, c.FileName, c.URL, c.Info = "m.file", msg.File, stored.URI, &info{MIME: kind, Size: int64(len(msg.Content))}
	if general, _, _ := strings.Cut(kind, "/"); general == "image" || general == "audio" || general == "video" {
		c.MsgType = "m." + general
	}
	return c, err
}

// Describe implements [chat.Files].
func (*platform) Describe(_ context.Context, f domain.File) (domain.File, error) { return f, nil }

// Fetch implements [chat.Files].
func (p *platform) Fetch(ctx context.Context, f domain.File) (io.ReadCloser, error) {
	at := mediaURI.FindStringSubmatch(f.URL)
	if at == nil {
		return nil, chat.Unreadable("is not stored by a homeserver")
	}
	ctx, cancel := context.WithTimeout(ctx, fileTimeout)
	content, err := p.download(ctx, "/_matrix/client/v1/media/download/", at[1], at[2])
	if codeOf(err) == codeUnrecognized {
		content, err = p.download(ctx, "/_matrix/media/v3/download/", at[1], at[2])
	}
	if err != nil {
		cancel()
		if gone(err) {
			return nil, chat.Unreadable("is not available: " + codeOf(err))
		}
		return nil, err
	}
	return body{content, cancel}, nil
}

func (p *platform) download(ctx context.Context, path, server, id string) (io.ReadCloser, error) {
	response, err := p.open(ctx, request{name: "download", path: path + url.PathEscape(server) + "/" + url.PathEscape(id)})
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}

// body is that of an answer, until it is closed.
type body struct {
	io.ReadCloser
	cancel context.CancelFunc
}

// Close implements io.Closer.
func (b body) Close() error {
	b.cancel()
	return b.ReadCloser.Close()
}
