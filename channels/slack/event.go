package slack

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// errMalformed is the error of what Slack cannot have meant to send.
var errMalformed = errors.New("malformed payload")

// delivery is what Slack puts around an event. One from a channel that several
// workspaces share may name another of them first.
type delivery struct {
	Type           string          `json:"type"`
	Challenge      string          `json:"challenge"`
	TeamID         string          `json:"team_id"`
	ContextTeamID  string          `json:"context_team_id"`
	Authorizations []authorization `json:"authorizations"`
	Event          json.RawMessage `json:"event"`
}

type authorization struct {
	TeamID string `json:"team_id"`
}

func (d *delivery) isFor(team string) bool {
	if d.TeamID == team || d.ContextTeamID == team {
		return true
	}
	for _, a := range d.Authorizations {
		if a.TeamID == team {
			return true
		}
	}
	return false
}

// post is a message in Slack, as message and app_mention events tell of it: both
// come for a message that mentions us.
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
	} `json:"user_profile"`
	BotID       string       `json:"bot_id"`
	AppID       string       `json:"app_id"`
	Username    string       `json:"username"`
	Text        string       `json:"text"`
	Files       []file       `json:"files"`
	Attachments []attachment `json:"attachments"`
}

type file struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Title       string `json:"title"`
	MIME        string `json:"mimetype"`
	Size        int64  `json:"size"`
	Mode        string `json:"mode"`
	Private     string `json:"url_private"`
	PrivateFull string `json:"url_private_download"`
}

// postSubTypes are the subtypes of messages that somebody wrote. All others tell
// of something that happened.
var postSubTypes = map[string]bool{
	"": true, "bot_message": true, "file_share": true, "me_message": true, "message_share": true, "thread_broadcast": true,
}

var timestamp = regexp.MustCompile(`^\d{1,11}\.\d{1,6}$`)

// readPost returns the post that an event tells of. It reports false if the event
// is of another kind.
func readPost(event json.RawMessage) (post, bool, error) {
	var kind struct {
		Type    string `json:"type"`
		SubType string `json:"subtype"`
	}
	if err := json.Unmarshal(event, &kind); err != nil {
		return post{}, false, fmt.Errorf("%w: event: %w", errMalformed, err)
	}
	if kind.Type != "message" && kind.Type != "app_mention" || !postSubTypes[kind.SubType] {
		return post{}, false, nil
	}
	var p post
	if err := json.Unmarshal(event, &p); err != nil {
		return post{}, false, fmt.Errorf("%w: %s: %w", errMalformed, kind.Type, err)
	}
	if p.Channel == "" || p.sender() == "" || !timestamp.MatchString(p.TS) {
		return post{}, false, fmt.Errorf("%w: %s without channel, author or time", errMalformed, kind.Type)
	}
	return p, true, nil
}

func (p *post) isDirect() bool { return p.ChannelType == "im" || isDirect(p.Channel) }

// slackbot is the user that Slack itself writes as, reminders for example.
const slackbot = "USLACKBOT"

func (p *post) isBot() bool {
	return p.BotID != "" || p.SubType == "bot_message" || p.User == slackbot
}

func (p *post) sender() string { return cmp.Or(p.User, p.BotID) }

func (p *post) senderName() string {
	return cmp.Or(p.UserProfile.DisplayName, p.UserProfile.RealName, p.Username)
}

// mentions reports whether the post mentions a user. The text decides, so that
// both events of a post are treated alike.
func (p *post) mentions(user string) bool {
	return p.Type == "app_mention" || strings.Contains(p.Text, "<@"+user+">") || strings.Contains(p.Text, "<@"+user+"|")
}

// thread is the thread of the conversation that the post belongs to. In a channel
// a post that is in none opens one.
func (p *post) thread() string {
	if p.isDirect() {
		return p.ThreadTS
	}
	return cmp.Or(p.ThreadTS, p.TS)
}

// inbound is the post as the rest of us knows it. The same post always gives the
// same message.
func (p *post) inbound(self Identity) domain.Inbound {
	chat := chatOf(self.TeamID, p.Channel)
	msg := domain.Inbound{
		Channel: Name, Scope: chat, PlatformID: p.TS, Chat: chat, Thread: p.thread(),
		Sender: p.sender(), SenderName: p.senderName(), Text: p.text(self.UserID), SentAt: sentAt(p.TS), Files: p.files(), Push: true,
	}
	if msg.Text == "" && len(msg.Files) == 0 && p.mentions(self.UserID) {
		msg.Text = "<@" + self.UserID + ">" // a call to look at what was said before
	}
	if command, ok := bareCommand(msg.Text); ok && !p.isDirect() && p.mentions(self.UserID) {
		msg.Text = command
	}
	return msg
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

// sentAt is the time that a timestamp of Slack's names.
func sentAt(ts string) time.Time {
	seconds, micros, _ := strings.Cut(ts, ".")
	s, _ := strconv.ParseInt(seconds, 10, 64)
	us, _ := strconv.ParseInt((micros + "000000")[:6], 10, 64)
	return time.Unix(s, us*int64(time.Microsecond)).UTC()
}
