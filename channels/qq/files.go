package qq

import (
	"context"
	"encoding/base64"
	"io"
	"mime"
	"net/http"
	"path"
	"strings"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/domain"
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
	return p.files.Open(ctx, f.URL)
}
