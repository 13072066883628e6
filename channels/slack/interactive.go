package slack

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// stopAction names the button below a reply in progress, whose value is the
// conversation's thread, and the shortcut of messages.
const stopAction = "holdfast_stop"

// interactions are the buttons and shortcuts that we know, by action or callback
// ID. Who clicked is allowed to; what they do may be done again, as Slack
// delivers again what was not acknowledged.
var interactions = map[string]func(r *receiver, ctx context.Context, c click) error{
	stopAction:    (*receiver).stop,
	approveAction: (*receiver).decide,
	denyAction:    (*receiver).decide,
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
	Message struct {
		TS       string `json:"ts"`
		ThreadTS string `json:"thread_ts"`
	} `json:"message"`
	Actions []struct {
		ID    string `json:"action_id"`
		Value string `json:"value"`
		TS    string `json:"action_ts"`
	} `json:"actions"`
}

// click is one thing that somebody clicked.
type click struct {
	name   string // action or callback ID
	id     string // of the click: the same in a redelivery
	value  string // of the button
	chat   string
	thread string // of the conversation
	by     asker
}

func (r *receiver) readInteraction(payload []byte) (job, error) {
	var i interaction
	if err := json.Unmarshal(payload, &i); err != nil {
		return job{}, fmt.Errorf("%w: %w", errMalformed, err)
	}
	self, err := r.known()
	if err != nil {
		return job{}, err
	}
	clicks := i.clicks(self)
	if len(clicks) == 0 {
		return job{}, nil
	}
	if i.Channel.ID == "" || i.User.ID == "" {
		return job{}, fmt.Errorf("%w: a click without channel or user", errMalformed)
	}
	if i.Team.ID != self.TeamID && i.User.TeamID != self.TeamID {
		r.log.Info("click of another workspace ignored", "team", i.Team.ID, "ours", self.TeamID)
		return job{}, nil
	}
	return job{lane: lane(clicks[0].chat, clicks[0].thread), do: func(ctx context.Context) (any, error) {
		for _, c := range clicks {
			if err := r.clicked(ctx, c); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}}, nil
}

// clicks returns what we know of what was clicked.
func (i *interaction) clicks(self Identity) []click {
	base := click{
		chat: chatOf(self.TeamID, i.Channel.ID),
		by: asker{
			channel: i.Channel.ID, thread: i.Message.ThreadTS, direct: isDirect(i.Channel.ID), user: i.User.ID, name: i.User.Name,
		},
	}
	base.thread = conversation(base.by.direct, i.Message.TS, i.Message.ThreadTS)
	var clicks []click
	add := func(name, ts, value string) {
		if interactions[name] == nil || ts == "" {
			return
		}
		c := base
		c.name, c.id, c.value = name, ts+"-"+i.User.ID, value
		clicks = append(clicks, c)
	}
	switch i.Type {
	case "block_actions":
		for _, a := range i.Actions {
			add(a.ID, cmp.Or(a.TS, i.ActionTS), a.Value)
		}
	case "message_action":
		add(i.CallbackID, i.ActionTS, "")
	}
	return clicks
}

// conversation is the thread of the conversation that a message is in.
func conversation(direct bool, ts, threadTS string) string {
	if direct && threadTS == ts {
		return "" // it opened a thread, and is not in it itself
	}
	if direct {
		return threadTS
	}
	return cmp.Or(threadTS, ts)
}

func (r *receiver) clicked(ctx context.Context, c click) error {
	why, err := r.access(ctx, c.by)
	if err != nil {
		return err
	}
	if why != "" {
		r.refuse(c.by, why, true) //nolint:contextcheck // it is told after this has ended
		return nil
	}
	return interactions[c.name](r, ctx, c)
}

// stop stops the conversation that a click is about.
func (r *receiver) stop(ctx context.Context, c click) error {
	thread := cmp.Or(c.value, c.thread)
	return r.order(ctx, "/stop", "stop-"+c.id, c.chat, thread, c.by)
}

// order accepts a command that was not written as a message.
func (r *receiver) order(ctx context.Context, command, id, chat, thread string, by asker) error {
	return r.accept(ctx, ordered(command, id, chat, thread, by))
}

func ordered(command, id, chat, thread string, by asker) domain.Inbound {
	return domain.Inbound{
		Channel: Name, Scope: chat, PlatformID: id, Chat: chat, Thread: thread, Sender: by.user, SenderName: by.name, Text: command, Push: true,
	}
}
