package whatsapp

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/holdfast-ai/holdfast/channels/chat"
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
		return f, chat.Unreadable("is no longer at WhatsApp")
	}
	f.URL, f.Size = about.URL, about.Size
	kind, _, _ := mime.ParseMediaType(cmp.Or(about.MIME, f.MIME))
	f.MIME = kind
	return f, err
}

// Fetch implements [chat.Files].
func (p *platform) Fetch(ctx context.Context, f domain.File) (io.ReadCloser, error) {
	address, err := url.Parse(f.URL)
	if err != nil || !p.isMedia(address) {
		return nil, chat.Unreadable("is not at WhatsApp")
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, f.URL, http.NoBody)
	if err != nil {
		return nil, chat.Unreadable("has no valid address")
	}
	request.Header.Set("Authorization", "Bearer "+p.o.AccessToken)
	request.Header.Set("User-Agent", "holdfast") // without one, Meta refuses
	response, err := p.files.Do(request)
	if err != nil {
		return nil, networkError(err)
	}
	if response.StatusCode == http.StatusOK {
		return response.Body, nil
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusNotFound || response.StatusCode == http.StatusGone {
		return nil, chat.Unreadable("is no longer at WhatsApp")
	}
	return nil, remote.Rejected(Name, response, "download a file")
}

// isMedia reports whether Meta keeps files at an address.
func (p *platform) isMedia(address *url.URL) bool {
	if api, err := url.Parse(p.o.APIURL); err == nil && address.Scheme == api.Scheme && address.Host == api.Host {
		return true
	}
	host := strings.ToLower(address.Hostname())
	return address.Scheme == "https" && slices.ContainsFunc(mediaHosts, func(domain string) bool {
		return host == domain || strings.HasSuffix(host, "."+domain)
	})
}

func (p *platform) checkRedirect(request *http.Request, via []*http.Request) error {
	if len(via) >= 5 || !p.isMedia(request.URL) {
		return fmt.Errorf("redirected to %s", request.URL.Hostname())
	}
	return nil
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
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	header := textproto.MIMEHeader{}
	header.Set("Content-Disposition", mime.FormatMediaType("form-data", map[string]string{"name": "file", "filename": name}))
	header.Set("Content-Type", kind)
	_ = form.WriteField("messaging_product", Name) // a buffer does not fail
	_ = form.WriteField("type", kind)
	part, err := form.CreatePart(header)
	if err != nil {
		return "", fmt.Errorf("write a form: %w", err)
	}
	_, _ = part.Write(content)
	_ = form.Close()
	var uploaded struct {
		ID string `json:"id"`
	}
	err = p.send(ctx, p.files, http.MethodPost, p.path("media"), "", form.FormDataContentType(), &body, &uploaded)
	return uploaded.ID, err
}
