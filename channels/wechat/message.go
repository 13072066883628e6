package wechat

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/text"
)

// maxQuoted bounds in characters what is shown of a quoted message.
const maxQuoted = 1000

// noTranscript stands for a voice message that WeChat did not transcribe.
const noTranscript = "[a voice message; WeChat sent no transcript of it]"

// readMessage parses a message. It is nil if it is none that a person wrote to us alone.
func (p *platform) readMessage(raw []byte) (m inbound, post *chat.Post, err error) {
	defer chat.RecoverPanic(&err)
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, nil, fmt.Errorf("%w: %w", chat.ErrMalformed, err)
	}
	if m.GroupID != "" || m.Type == fromBot {
		return m, nil, nil
	}
	if m.From == "" {
		return m, nil, fmt.Errorf("%w: a message without an author", chat.ErrMalformed)
	}
	post = &chat.Post{}
	post.Direct = true
	post.Inbound = domain.Inbound{
		PlatformID: m.key(), Scope: m.From, Chat: m.From, Sender: m.From, SentAt: m.sentAt(), Text: textOf(m.Items), Files: p.filesOf(m.Items),
	}
	return m, post, nil
}

// key identifies a message in its chat. The copies of one have different tokens.
func (m *inbound) key() string {
	key := string(m.MessageID)
	for _, it := range m.Items {
		key = cmp.Or(key, string(it.MessageID))
	}
	if key != "" {
		return key
	}
	copied := *m
	copied.ContextToken = ""
	content, _ := json.Marshal(copied) // of what was parsed from JSON
	sum := sha256.Sum256(content)
	return "hash-" + hex.EncodeToString(sum[:16])
}

// textOf returns what is said in a message, below what it quotes.
func textOf(items []item) string {
	var lines []string
	for _, it := range items {
		if said := it.quotation(); said != "" {
			lines = append(lines, said)
		}
		if said := it.said(); said != "" {
			lines = append(lines, said)
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

func (it *item) said() string {
	switch {
	case it.Type == itemText && it.Text != nil:
		return it.Text.Text
	case it.Type == itemVoice && it.Voice != nil:
		return cmp.Or(it.Voice.Text, noTranscript)
	case it.Type == itemVoice:
		return noTranscript
	}
	return ""
}

func (it *item) quotation() string {
	if it.Quoted == nil {
		return ""
	}
	said := it.Quoted.Title
	if quoted := it.Quoted.Item; quoted != nil {
		said = cmp.Or(quoted.said(), said)
	}
	if said = strings.TrimSpace(said); said == "" {
		return ""
	}
	return "> " + strings.ReplaceAll(text.CutRunes(said, maxQuoted), "\n", "\n> ")
}

// filesOf returns the files of a message. The ID of one is its key.
func (p *platform) filesOf(items []item) []domain.File {
	var files []domain.File
	for i, it := range items {
		var f domain.File
		var at media
		switch {
		case it.Type == itemImage && it.Image != nil:
			at = it.Image.Media
			f = domain.File{Name: "image.jpg", MIME: "image/jpeg", ID: cmp.Or(it.Image.Key, keyOf(at.Key))}
		case it.Type == itemFile && it.File != nil:
			at = it.File.Media
			f = domain.File{Name: cmp.Or(path.Base(it.File.Name), "file-"+strconv.Itoa(i+1)), ID: keyOf(at.Key)}
			f.Size, _ = strconv.ParseInt(it.File.Size, 10, 64) // 0: unknown
		case it.Type == itemVideo && it.Video != nil:
			at = it.Video.Media
			f = domain.File{Name: "video.mp4", MIME: "video/mp4", Size: it.Video.Size, ID: keyOf(at.Key)}
		default:
			continue
		}
		if f.URL = p.addressOf(at); f.URL != "" {
			files = append(files, f)
		}
	}
	return files
}
