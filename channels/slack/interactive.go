package slack

import (
	"cmp"
	"fmt"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// actions are the actions of buttons and shortcuts by the ID that they have at Slack.
var actions = map[string]chat.Action{
	actionID(chat.ActionStop): chat.ActionStop, actionID(chat.ActionApprove): chat.ActionApprove, actionID(chat.ActionDeny): chat.ActionDeny,
}

// interaction is a click on a button or a shortcut.
type interaction struct {
	Type       string `json:"type"`
	CallbackID string `json:"callback_id"`
	ActionTS   string `json:"action_ts"`
	Team       struct {
		ID string `json:"id"`
	} `json:"team"`
	User struct {
		ID     string `json:"id"`
		Name   string `json:"name"`
		TeamID string `json:"team_id"`
	} `json:"user"`
	Channel struct {
		ID string `json:"id"`
	} `json:"channel"`
	View struct { // that the person clicked in
		Type     string `json:"type"`
		Metadata string `json:"private_metadata"`
	} `json:"view"`
	Message post     `json:"message"`
	Actions []action `json:"actions"`

	threads bool // each message of a direct chat opens a thread
}

// isThread reports whether a message that is not in a thread opens one.
func (i *interaction) isThread() bool { return i.threads || !isDirect(i.Channel.ID) }

type action struct {
	ID    string `json:"action_id"`
	Value string `json:"value"`
	TS    string `json:"action_ts"`
}

func (p *platform) readInteraction(payload []byte) (chat.Delivery, error) {
	var i interaction
	if err := decode(payload, &i); err != nil {
		return nil, err
	}
	self, err := p.known()
	if err != nil {
		return nil, err
	}
	i.threads = p.o.AgentView
	home := i.View.Type == "home"
	if home {
		i.Channel.ID = i.View.Metadata
	}
	click := i.click(self)
	asks := i.Type == "message_action" && i.CallbackID == askShortcut
	switch {
	case click == nil && !asks:
		return nil, nil
	case i.Channel.ID == "" || i.User.ID == "" || home && !isDirect(i.Channel.ID):
		return nil, fmt.Errorf("%w: a click without channel or user", chat.ErrMalformed)
	case asks:
		return i.request(self), nil
	}
	click.Home = home
	return click, nil
}

// click returns the click; nil if it is unknown.
func (i *interaction) click(self Identity) *chat.Click {
	c := &chat.Click{}
	ts := i.ActionTS
	switch i.Type {
	case "block_actions":
		for _, a := range i.Actions {
			if c.Action, c.Value = a.meaning(); c.Action != "" {
				ts = cmp.Or(a.TS, ts)
				break
			}
		}
	case "message_action":
		c.Action = actions[i.CallbackID]
	}
	if c.Action == "" || ts == "" {
		return nil
	}
	c.PlatformID, c.SentAt = ts+"-"+i.User.ID, sentAt(ts) // the same in a redelivery
	c.Chat, c.Direct = chatOf(self.TeamID, i.Channel.ID), isDirect(i.Channel.ID)
	c.Sender, c.SenderName = i.User.ID, i.User.Name
	c.Outsider = elsewhere(self, i.User.TeamID, i.Team.ID)
	switch c.Thread = i.Message.ThreadTS; {
	case !i.isThread() && c.Thread == i.Message.TS:
		c.Thread = "" // the message opened the thread and is not in it
	case i.isThread() && c.Thread == "":
		c.Opens = i.Message.TS
	}
	if c.Action != chat.ActionStop && !c.Direct && c.Thread == "" && c.Opens == "" {
		return nil // an answer without a question
	}
	return c
}
