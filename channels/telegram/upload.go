package telegram

import (
	"context"
	"errors"
	"net/http"
	"path"
	"strings"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// maxPhoto is the size of a picture that Telegram shows as one, in bytes.
const maxPhoto = 10 << 20

// how a kind of files is sent.
type how struct{ method, field string }

var asDocument = how{"sendDocument", "document"}

// kinds are the files that Telegram shows or plays in the chat, by extension.
var kinds = map[string]how{
	".jpg": {"sendPhoto", "photo"}, ".jpeg": {"sendPhoto", "photo"}, ".png": {"sendPhoto", "photo"}, ".webp": {"sendPhoto", "photo"},
	".mp3": {"sendAudio", "audio"}, ".m4a": {"sendAudio", "audio"}, ".ogg": {"sendVoice", "voice"}, ".mp4": {"sendVideo", "video"},
}

// sendFile posts a file: as what it is, or, if Telegram does not take it as that, as a document.
func (p *platform) sendFile(ctx context.Context, at chat.Place, msg chat.Message) (string, error) {
	if err := p.pacer.Wait(ctx, at.Chat); err != nil {
		return "", err
	}
	as, special := kinds[strings.ToLower(path.Ext(msg.File))]
	if !special || as.field == "photo" && len(msg.Content) > maxPhoto {
		as = asDocument
	}
	sent, err := p.sendAs(ctx, as, at, msg)
	failed := remote.As(err)
	if as != asDocument && failed != nil && failed.Status == http.StatusBadRequest && !errors.Is(err, channels.ErrGone) {
		sent, err = p.sendAs(ctx, asDocument, at, msg)
	}
	return sent.id(), err
}

func (p *platform) sendAs(ctx context.Context, as how, at chat.Place, msg chat.Message) (sent sent, err error) {
	content := msg.Content
	if len(content) == 0 {
		content = []byte("\n") // Telegram takes no empty files
	}
	a := p.to(at, msg)
	if msg.Text != "" {
		a["caption"] = cutUnits(plainOf(render(msg.Text)), captionLimit)
	}
	err = p.limited(ctx, "messages", at.Chat, func(ctx context.Context) error {
		err := p.upload(ctx, as.method, a, as.field, msg.File, content, &sent)
		if r, is := errors.AsType[*refusal](err); is && r.migrateTo != 0 {
			return p.upload(ctx, as.method, with(a, args{"chat_id": id(r.migrateTo)}), as.field, msg.File, content, &sent)
		}
		return err
	})
	return sent, err
}
