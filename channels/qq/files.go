package qq

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// What file_type may be.
const (
	fileImage = 1
	fileVideo = 2
	fileVoice = 3
	fileOther = 4 // not open to every bot
)

var fileTypes = map[string]int{
	".png": fileImage, ".jpg": fileImage, ".jpeg": fileImage, ".mp4": fileVideo, ".silk": fileVoice, ".amr": fileVoice,
}

// media is an uploaded file.
type media struct {
	Info string `json:"file_info"`
}

// upload uploads the file of a message, which makes it visible to nobody yet.
func (p *platform) upload(ctx context.Context, chat string, msg chat.Message) (*media, error) {
	kind := fileTypes[strings.ToLower(path.Ext(msg.File))]
	if kind == 0 {
		kind = fileOther
	}
	uploaded := &media{}
	err := p.call(ctx, http.MethodPost, pathOf(chat, "files"), chat, map[string]any{
		"file_type": kind, "file_data": base64.StdEncoding.EncodeToString(msg.Content), "file_name": msg.File, "srv_send_msg": false,
	}, uploaded)
	return uploaded, err
}

// Describe implements [chat.Files].
func (*platform) Describe(_ context.Context, f domain.File) (domain.File, error) {
	if f.MIME == "" {
		f.MIME = mime.TypeByExtension(path.Ext(f.Name))
	}
	return f, nil
}

// Fetch implements [chat.Files].
func (p *platform) Fetch(ctx context.Context, f domain.File) (io.ReadCloser, error) {
	address, err := url.Parse(f.URL)
	if err != nil || !p.isMedia(address) {
		return nil, chat.Unreadable("is not at QQ")
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, f.URL, http.NoBody)
	if err != nil {
		return nil, chat.Unreadable("has no valid address")
	}
	response, err := p.files.Do(request)
	if err != nil {
		return nil, networkError(err)
	}
	if response.StatusCode == http.StatusOK {
		return response.Body, nil
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusNotFound, http.StatusForbidden, http.StatusGone, http.StatusBadRequest:
		return nil, chat.Unreadable("is no longer at QQ")
	}
	return nil, remote.Rejected(Name, response, "download a file")
}

// isMedia reports whether QQ keeps files at an address.
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
