package telegram

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// files returns the files of a message, and of the one that it answers unless that is ours.
func (m *message) files(self user) []domain.File {
	all := m.attached()
	if to := m.answered(); to != nil && !to.isFrom(self) {
		all = append(all, to.attached()...)
	} else if m.External != nil {
		all = append(all, m.External.attached()...)
	}
	return all
}

// attached returns the files in a message. Only documents must have a name.
func (m *media) attached() []domain.File {
	var all []domain.File
	add := func(f *file, name, mime string) {
		if f != nil && f.ID != "" {
			all = append(all, domain.File{ID: f.ID, Name: cmp.Or(oneLine(f.Name), name), MIME: cmp.Or(oneLine(f.MIME), mime), Size: max(f.Size, 0)})
		}
	}
	if n := len(m.Photo); n > 0 {
		add(&m.Photo[n-1], "photo.jpg", "image/jpeg")
	}
	add(m.Voice, "voice.ogg", "audio/ogg")
	add(m.Audio, "audio.mp3", "audio/mpeg")
	add(m.Video, "video.mp4", "video/mp4")
	add(m.VideoNote, "video.mp4", "video/mp4")
	if m.Animation != nil { // the document is the same, for older clients
		add(m.Animation, "animation.mp4", "video/mp4")
	} else {
		add(m.Document, "file", "application/octet-stream")
	}
	return all
}

// Describe implements [chat.Files].
func (*platform) Describe(_ context.Context, f domain.File) (domain.File, error) {
	if f.Size > fileLimit {
		return f, chat.Unreadable(fmt.Sprintf("is larger than %d MB, which Telegram does not give to bots", fileLimit>>20))
	}
	return f, nil
}

// Fetch implements [chat.Files].
func (p *platform) Fetch(ctx context.Context, f domain.File) (io.ReadCloser, error) {
	var at struct {
		Path string `json:"file_path"`
	}
	err := p.limited(ctx, "getFile", "", func(ctx context.Context) error {
		return p.call(ctx, "getFile", args{"file_id": f.ID}, &at)
	})
	switch {
	case says(err, "file is too big"):
		return nil, chat.Unreadable("is larger than Telegram gives to bots")
	case says(err, "invalid file_id", "wrong file_id", "file is temporarily unavailable", "file_id"):
		return nil, chat.Unreadable("is no longer available")
	case err != nil:
		return nil, err
	case at.Path == "":
		return nil, chat.Unreadable("cannot be downloaded")
	}
	return p.store.Open(ctx, p.base+"/file/bot"+p.token+"/"+at.Path)
}
