package dingtalk

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/text"
)

// maxQuoted bounds in characters what is shown of a quoted message.
const maxQuoted = 1000

// noTranscript stands for a voice message that DingTalk did not transcribe.
const noTranscript = "[a voice message; DingTalk sent no transcript of it]"

// robotMessage is a message to the robot.
type robotMessage struct {
	ID        string          `json:"msgId"`
	Chat      string          `json:"conversationId"`
	ChatType  string          `json:"conversationType"` // 1: with one person, 2: a group
	StaffID   string          `json:"senderStaffId"`    // empty: not of the organization
	SenderID  string          `json:"senderId"`
	Nick      string          `json:"senderNick"`
	RobotID   string          `json:"chatbotUserId"`
	CreatedMS int64           `json:"createAt"`
	Mentioned bool            `json:"isInAtList"`
	Type      string          `json:"msgtype"`
	Text      messageText     `json:"text"`
	Content   json.RawMessage `json:"content"` // of other types
}

// messageText is the content of a text.
type messageText struct {
	Content string `json:"content"`
	IsReply bool   `json:"isReplyMsg"`
	Replied struct {
		Type    string          `json:"msgType"`
		Content json.RawMessage `json:"content"`
	} `json:"repliedMsg"`
}

// part is the content of a message that is no text, or a part of it.
type part struct {
	Text       string `json:"text"`
	Code       string `json:"downloadCode"`
	FileName   string `json:"fileName"`
	VideoType  string `json:"videoType"`
	Transcript string `json:"recognition"`
	Parts      []part `json:"richText"`
}

// parse returns what a frame delivers; nil: nothing.
func (p *platform) parse(ctx context.Context, f *frame) (d chat.Delivery, err error) {
	defer chat.RecoverPanic(&err)
	switch f.Headers.Topic {
	case topicRobot:
		post, err := readMessage([]byte(f.Data))
		if err != nil || post == nil {
			return nil, err
		}
		return post, nil
	case topicCard:
		return p.readClick(ctx, []byte(f.Data))
	}
	return nil, fmt.Errorf("%w: unknown topic %q", chat.ErrMalformed, f.Headers.Topic)
}

// readMessage parses a message to the robot.
func readMessage(data []byte) (*chat.Post, error) {
	var m robotMessage
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("%w: %w", chat.ErrMalformed, err)
	}
	sender := cmp.Or(m.StaffID, m.SenderID)
	if m.ID == "" || m.Chat == "" || sender == "" {
		return nil, fmt.Errorf("%w: a message without ID, chat or author", chat.ErrMalformed)
	}
	post := &chat.Post{Mentioned: m.Mentioned, Own: m.SenderID != "" && m.SenderID == m.RobotID}
	post.Direct = m.ChatType == "1"
	post.Inbound = domain.Inbound{Scope: m.Chat, PlatformID: m.ID, Chat: m.Chat, Sender: sender, SenderName: m.Nick, SentAt: m.sentAt()}
	if post.Direct {
		post.Chat = sender // whom replies are sent to
	}
	post.Text, post.Files = m.said()
	return post, nil
}

func (m *robotMessage) sentAt() time.Time {
	at, now := time.UnixMilli(m.CreatedMS), time.Now()
	if m.CreatedMS <= 0 || at.After(now) {
		return now
	}
	return at
}

// said returns what is in a message.
func (m *robotMessage) said() (string, []domain.File) {
	if m.Type == "text" {
		said := strings.TrimSpace(m.Text.Content)
		if quoted := m.Text.quoted(); quoted != "" {
			said = "> " + strings.ReplaceAll(text.CutRunes(quoted, maxQuoted), "\n", "\n> ") + "\n" + said
		}
		return said, nil
	}
	content := partOf(m.Content)
	switch m.Type {
	case "richText":
		return content.rich()
	case "audio":
		return cmp.Or(strings.TrimSpace(content.Transcript), noTranscript), nil
	case "picture", "file", "video":
		return "", content.file(m.Type, 1)
	}
	return fmt.Sprintf("[a message of the type %q, which cannot be read]", text.CutRunes(m.Type, 50)), nil
}

// quoted returns what a message answers.
func (t *messageText) quoted() string {
	if !t.IsReply {
		return ""
	}
	content := partOf(t.Replied.Content)
	if said, _ := content.rich(); said != "" {
		return said
	}
	return strings.TrimSpace(cmp.Or(content.Text, content.Transcript, content.FileName))
}

// partOf parses a content. One of another form has nothing in it.
func partOf(content json.RawMessage) (p part) {
	_ = json.Unmarshal(content, &p)
	return p
}

// rich returns the parts of a rich text.
func (p *part) rich() (string, []domain.File) {
	var said strings.Builder
	var files []domain.File
	for _, part := range p.Parts {
		said.WriteString(part.Text)
		files = append(files, part.file("picture", len(files)+1)...)
	}
	return strings.TrimSpace(said.String()), files
}

// file returns the file of a part, if it has one. Its ID is the code to fetch it by.
func (p *part) file(kind string, number int) []domain.File {
	if p.Code == "" {
		return nil
	}
	f := domain.File{ID: p.Code}
	switch kind {
	case "picture":
		f.Name, f.MIME = "image-"+strconv.Itoa(number)+".jpg", "image/jpeg"
	case "video":
		f.Name, f.MIME = "video."+cmp.Or(p.VideoType, "mp4"), "video/"+cmp.Or(p.VideoType, "mp4")
	default:
		f.Name = cmp.Or(path.Base(p.FileName), "file")
	}
	return []domain.File{f}
}
