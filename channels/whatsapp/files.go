package whatsapp

import (
	"cmp"
	"context"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/chat/web"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// mediaHosts are where Meta keeps files. The access token is sent only there.
var mediaHosts = []string{"facebook.com", "fbsbx.com", "fbcdn.net", "whatsapp.net"}

// extensions are those of types for which there are several.
var extensions = map[string]string{"image/jpeg": ".jpg", "audio/ogg": ".ogg", "image/webp": ".webp", "video/mp4": ".mp4", "audio/mpeg": ".mp3", "text/plain": ".txt"}

// extensionOf returns the file extension of a type; empty if it is unknown.
func extensionOf(kind string) string {
	kind, _, _ = mime.ParseMediaType(kind)
	if known := extensions[kind]; known != "" {
		return known
	}
	if all, _ := mime.ExtensionsByType(kind); len(all) > 0 {
		return all[0]
	}
	return ""
}

// Describe implements [chat.Files].
func (p *platform) Describe(ctx context.Context, f domain.File) (domain.File, error) {
	var about struct {
		URL  string `json:"url"`
		MIME string `json:"mime_type"`
		Size int64  `json:"file_size"`
	}
	err := p.call(ctx, http.MethodGet, url.PathEscape(f.ID), "", nil, &about)
	if failed := remote.As(err); failed != nil && failed.Permanent() {
		return f, chat.Unreadable("is no longer stored by WhatsApp")
	}
	f.URL, f.Size = about.URL, about.Size
	kind, _, _ := mime.ParseMediaType(cmp.Or(about.MIME, f.MIME))
	f.MIME = kind
	return f, err
}

// Fetch implements [chat.Files].
func (p *platform) Fetch(ctx context.Context, f domain.File) (io.ReadCloser, error) {
	return p.files.Open(ctx, f.URL)
}

// kinds are the types of files that WhatsApp shows as something else than a document, and
// up to how many bytes.
var kinds = map[string]struct {
	kind  string
	limit int
}{
	"image/jpeg": {"image", 5 << 20}, "image/png": {"image", 5 << 20}, "video/mp4": {"video", 16 << 20},
	"audio/ogg": {"audio", 16 << 20}, "audio/mpeg": {"audio", 16 << 20}, "audio/mp4": {"audio", 16 << 20}, "audio/aac": {"audio", 16 << 20},
}

// fileContent uploads a file, which makes it visible to nobody yet, and returns the message
// that has it.
func (p *platform) fileContent(ctx context.Context, msg chat.Message, caption string) (object, error) {
	kind, _, _ := mime.ParseMediaType(cmp.Or(mime.TypeByExtension(path.Ext(msg.File)), "text/plain"))
	id, err := p.upload(ctx, msg.File, kind, msg.Content)
	if failed := remote.As(err); failed != nil && (failed.Status == 0 || failed.Status >= 500) {
		failed.Status = http.StatusRequestTimeout // the message was certainly not sent
	}
	if err != nil {
		return nil, err
	}
	as, file := "document", object{"id": id}
	if k := kinds[kind]; k.kind != "" && len(msg.Content) <= k.limit {
		as = k.kind
	}
	if as == "document" {
		file["filename"] = msg.File
	}
	if caption != "" && as != "audio" {
		file["caption"] = string([]rune(caption)[:min(len([]rune(caption)), questionLimit)])
	}
	return object{"type": as, as: file}, nil
}

func (p *platform) upload(ctx context.Context, name, kind string, content []byte) (id string, err error) {
	var uploaded struct {
		ID string `json:"id"`
	}
	form := &web.Form{Fields: map[string]string{"messaging_product": Name, "type": kind}, Field: "file", Name: name, Type: kind, Content: content}
	err = p.send(ctx, p.path("media"), "", web.Call{Method: http.MethodPost, Form: form, Timeout: fileTimeout}, &uploaded)
	return uploaded.ID, err
}
