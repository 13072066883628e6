package slack

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// post is a message as message and app_mention events have it. Slack sends both events
// for a message that mentions us.
type post struct {
	Type         string          `json:"type"`
	SubType      string          `json:"subtype"`
	Hidden       bool            `json:"hidden"`
	Edited       json.RawMessage `json:"edited"`
	Channel      string          `json:"channel"`
	ChannelType  string          `json:"channel_type"`
	TS           string          `json:"ts"`
	ThreadTS     string          `json:"thread_ts"`
	ParentUserID string          `json:"parent_user_id"`
	User         string          `json:"user"`
	UserProfile  struct {
		DisplayName string `json:"display_name"`
		RealName    string `json:"real_name"`
		Team        string `json:"team"`
	} `json:"user_profile"`
	UserTeam    string       `json:"user_team"`   // in channels that workspaces share, as are
	SourceTeam  string       `json:"source_team"` // that of the message
	BotID       string       `json:"bot_id"`
	AppID       string       `json:"app_id"`
	Username    string       `json:"username"`
	Text        string       `json:"text"`
	Files       []file       `json:"files"`
	Attachments []attachment `json:"attachments"`
	AppContext  appContext   `json:"app_context"`
}

// postSubTypes are the subtypes of messages that someone wrote. All others report
// that something happened.
var postSubTypes = map[string]bool{
	"": true, "bot_message": true, "file_share": true, "me_message": true, "message_share": true, "thread_broadcast": true,
}

var timestamp = regexp.MustCompile(`^\d{1,11}\.\d{1,6}$`)

// readPost returns the delivery of a message; nil if nobody just wrote it.
func readPost(event json.RawMessage, self Identity) (chat.Delivery, error) {
	var p post
	if err := json.Unmarshal(event, &p); err != nil {
		return nil, fmt.Errorf("%w: message: %w", chat.ErrMalformed, err)
	}
	if p.Channel == "" || p.sender() == "" || !timestamp.MatchString(p.TS) {
		return nil, fmt.Errorf("%w: message without channel, author or time", chat.ErrMalformed)
	}
	if p.Hidden || len(p.Edited) > 0 && string(p.Edited) != "null" {
		return nil, nil
	}
	return p.delivery(self), nil
}

func (p *post) isDirect() bool { return p.ChannelType == "im" || isDirect(p.Channel) }

// slackbot is the user as which Slack itself writes, for example reminders.
const slackbot = "USLACKBOT"

func (p *post) isBot() bool {
	return p.BotID != "" || p.SubType == "bot_message" || p.User == slackbot
}

func (p *post) sender() string { return cmp.Or(p.User, p.BotID) }

func (p *post) senderName() string {
	return cmp.Or(p.UserProfile.DisplayName, p.UserProfile.RealName, p.Username)
}

// mentions reports whether the post mentions a user. The text decides, so that both
// events of a post have the same result.
func (p *post) mentions(user string) bool {
	return p.Type == "app_mention" || strings.Contains(p.Text, "<@"+user+">") || strings.Contains(p.Text, "<@"+user+"|")
}

// delivery is the post as the core takes it. The same post always gives the same one.
func (p *post) delivery(self Identity) *chat.Post {
	name := chatOf(self.TeamID, p.Channel)
	d := &chat.Post{
		Mentioned: p.mentions(self.UserID),
		Replies:   p.ParentUserID == self.UserID,
		Own:       p.User == self.UserID || p.BotID != "" && p.BotID == self.BotID,
	}
	d.Direct, d.Bot, d.BotIDs = p.isDirect(), p.isBot(), []string{p.BotID, p.AppID}
	d.Outsider = elsewhere(self, p.UserTeam, p.UserProfile.Team, p.SourceTeam)
	d.Inbound = domain.Inbound{
		Scope: name, PlatformID: p.TS, Chat: name, Thread: p.ThreadTS,
		Sender: p.sender(), SenderName: p.senderName(), Text: p.AppContext.withNote(p.text(self.UserID)), SentAt: sentAt(p.TS), Files: p.files(),
	}
	if !d.Direct && d.Thread == "" {
		d.Opens = p.TS
	}
	if d.Text == "" && len(d.Files) == 0 && d.Mentioned {
		d.Text = "<@" + self.UserID + ">" // asks us to look at what was said before
	}
	return d
}

// elsewhere reports whether the first known one of a person's workspaces is another than
// ours. The ID of an organization (E…) says nothing.
func elsewhere(self Identity, teams ...string) bool {
	for _, team := range teams {
		if strings.HasPrefix(team, "T") {
			return team != self.TeamID
		}
	}
	return false
}

// text returns the text of a post and of the messages that it forwards; that of its
// attachments if there is neither.
func (p *post) text(self string) string {
	parts := []string{readable(p.Text, self)}
	for _, a := range p.Attachments {
		if a.IsShare {
			parts = append(parts, a.forwarded())
		}
	}
	if text := joined("\n\n", parts...); text != "" || !p.isBot() {
		return text
	}
	for _, a := range p.Attachments {
		parts = append(parts, a.alert())
	}
	return joined("\n\n", parts...)
}

func (p *post) files() []domain.File {
	attached := p.Files
	for _, a := range p.Attachments {
		if a.IsShare {
			attached = append(attached, a.Files...)
		}
	}
	var files []domain.File
	for _, f := range attached {
		if f.ID == "" || f.Mode == "tombstone" {
			continue
		}
		files = append(files, domain.File{
			ID: f.ID, Name: cmp.Or(f.Name, f.Title, f.ID), MIME: f.MIME, Size: f.Size, URL: cmp.Or(f.PrivateFull, f.Private),
		})
	}
	return files
}

// sentAt is the time of a message.
func sentAt(ts string) time.Time {
	seconds, micros, _ := strings.Cut(ts, ".")
	s, _ := strconv.ParseInt(seconds, 10, 64)
	us, _ := strconv.ParseInt((micros + "000000")[:6], 10, 64)
	return time.Unix(s, us*int64(time.Microsecond)).UTC()
}

// decode decodes a payload.
func decode(payload []byte, into any) error {
	if err := json.Unmarshal(payload, into); err != nil {
		return fmt.Errorf("%w: %w", chat.ErrMalformed, err)
	}
	return nil
}
