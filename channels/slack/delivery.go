package slack

import (
	"encoding/json"
	"fmt"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// The kinds of what Slack delivers, as Socket Mode calls them.
const (
	kindEvent       = "events_api"
	kindInteraction = "interactive"
	kindCommand     = "slash_commands"
)

// parse parses a payload from Slack. If there is nothing to deliver, d is nil and reply is
// the payload of the acknowledgement.
func (p *platform) parse(kind string, payload []byte) (d chat.Delivery, reply any, err error) {
	defer chat.RecoverPanic(&err)
	switch kind {
	case kindEvent:
		return p.readEvent(payload)
	case kindInteraction:
		d, err = p.readInteraction(payload)
	case kindCommand:
		return p.readCommand(payload)
	}
	return d, nil, err
}

// delivery is the envelope of an event. If several workspaces share the channel, it may
// name another one first.
type delivery struct {
	Type           string `json:"type"`
	Challenge      string `json:"challenge"`
	TeamID         string `json:"team_id"`
	ContextTeamID  string `json:"context_team_id"`
	Authorizations []struct {
		TeamID string `json:"team_id"`
	} `json:"authorizations"`
	Event json.RawMessage `json:"event"`
}

func (d *delivery) isFor(team string) bool {
	for _, a := range d.Authorizations {
		if a.TeamID == team {
			return true
		}
	}
	return d.TeamID == team || d.ContextTeamID == team
}

func (p *platform) readEvent(payload []byte) (chat.Delivery, any, error) {
	var d delivery
	if err := decode(payload, &d); err != nil {
		return nil, nil, err
	}
	switch d.Type {
	case "url_verification":
		return nil, map[string]string{"challenge": d.Challenge}, nil
	case "app_rate_limited":
		p.log.Warn("slack delays events: there are more than 30,000 in an hour")
	}
	if d.Type != "event_callback" {
		return nil, nil, nil
	}
	var kind eventKind
	if err := decode(d.Event, &kind); err != nil {
		return nil, nil, err
	}
	self, err := p.known()
	if err != nil {
		return nil, nil, err
	}
	if !d.isFor(self.TeamID) {
		p.log.Info("event of another workspace ignored", "team", d.TeamID, "ours", self.TeamID)
		return nil, nil, nil
	}
	if kind.Type == "reaction_added" {
		news, err := p.readReaction(d.Event, self)
		return news, nil, err
	}
	news, err := kind.read(d.Event, self)
	p.asThread(news)
	return news, nil, err
}

// eventKind is the kind of an event.
type eventKind struct {
	Type    string `json:"type"`
	SubType string `json:"subtype"`
}

// read returns the delivery of an event; nil if there is none.
func (kind eventKind) read(event json.RawMessage, self Identity) (chat.Delivery, error) {
	switch kind.Type {
	case "message", "app_mention":
		switch {
		case kind.SubType == "message_changed", kind.SubType == "message_deleted":
			return readChange(event, self)
		case !postSubTypes[kind.SubType]:
			return nil, nil
		}
		return readPost(event, self)
	case "app_home_opened":
		return readHomeOpened(event, self)
	case "agent_session_stopped":
		return readStop(event, self)
	}
	return nil, nil
}

// slash is a slash command.
type slash struct {
	Text      string `json:"text"`
	ChannelID string `json:"channel_id"`
	UserID    string `json:"user_id"`
	UserName  string `json:"user_name"`
	TeamID    string `json:"team_id"`
	TriggerID string `json:"trigger_id"`
}

func (p *platform) readCommand(payload []byte) (chat.Delivery, any, error) {
	var s slash
	if err := decode(payload, &s); err != nil {
		return nil, nil, err
	}
	if s.ChannelID == "" || s.UserID == "" || s.TriggerID == "" {
		return nil, nil, fmt.Errorf("%w: a command without channel, user or trigger", chat.ErrMalformed)
	}
	self, err := p.known()
	if err != nil {
		return nil, nil, err
	}
	command := &chat.Command{}
	command.Chat, command.Direct = chatOf(self.TeamID, s.ChannelID), isDirect(s.ChannelID)
	command.PlatformID, command.Sender, command.SenderName, command.Text = s.TriggerID, s.UserID, s.UserName, s.Text
	command.Outsider = elsewhere(self, s.TeamID)
	return command, nil, nil
}

// ephemeral returns the payload of an acknowledgement that only the caller sees; nil for
// an empty text.
func ephemeral(text string) any {
	if text == "" {
		return nil
	}
	return map[string]string{"response_type": "ephemeral", "text": text}
}
