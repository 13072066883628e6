package slack

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// askShortcut is the callback ID of the shortcut that hands a message to us.
const askShortcut = "holdfast_ask"

// request is the request to deal with the message on which the shortcut was used: in its
// thread, by whoever used it. It is nil for a message that is not there.
func (i *interaction) request(self Identity) chat.Delivery {
	m := &i.Message
	if !timestamp.MatchString(m.TS) || !timestamp.MatchString(i.ActionTS) {
		return nil
	}
	said := m.text("")
	text := fmt.Sprintf("Deal with this message of <@%s>:", m.sender())
	if said != "" {
		text += "\n> " + strings.ReplaceAll(said, "\n", "\n> ")
	}
	p := asked(self, i.Channel.ID, i.User.ID, "ask-"+i.ActionTS+"-"+i.User.ID, text)
	p.SenderName, p.Outsider = i.User.Name, elsewhere(self, i.User.TeamID, i.Team.ID)
	p.SentAt, p.Files, p.Thread = sentAt(i.ActionTS), m.files(), m.ThreadTS
	if p.Thread == "" && i.isThread() {
		p.Opens = m.TS
	}
	return p
}

// reaction is an emoji that was added to a message.
type reaction struct {
	User     string `json:"user"`
	Reaction string `json:"reaction"`
	EventTS  string `json:"event_ts"`
	Item     struct {
		Type    string `json:"type"`
		Channel string `json:"channel"`
		TS      string `json:"ts"`
	} `json:"item"`
}

// readReaction returns the request that a reaction makes, if its emoji is one of those that
// do. What was written is read later, with the rest of the thread.
func (p *platform) readReaction(event json.RawMessage, self Identity) (chat.Delivery, error) {
	var r reaction
	if err := decode(event, &r); err != nil {
		return nil, err
	}
	if r.Item.Type != "message" || r.User == self.UserID || !slices.Contains(p.o.Reactions, r.Reaction) {
		return nil, nil
	}
	if r.Item.Channel == "" || r.User == "" || !timestamp.MatchString(r.Item.TS) || !timestamp.MatchString(r.EventTS) {
		return nil, fmt.Errorf("%w: reaction without channel, user or time", chat.ErrMalformed)
	}
	request := asked(self, r.Item.Channel, r.User, "reaction-"+r.EventTS+"-"+r.User,
		fmt.Sprintf("Deal with the message above: I reacted to it with :%s:.", r.Reaction))
	request.SentAt, request.Opens = sentAt(r.EventTS), r.Item.TS
	return request, nil
}

// asked returns a request that was not written as a message.
func asked(self Identity, channel, user, id, text string) *chat.Post {
	name := chatOf(self.TeamID, channel)
	p := &chat.Post{Mentioned: true}
	p.Direct = isDirect(channel)
	p.Inbound = domain.Inbound{Scope: name, PlatformID: id, Chat: name, Sender: user, Text: text}
	return p
}
