package discord

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// The types of interactions, and of our answers.
const (
	isCommand = 2
	isClick   = 3

	answerMessage  = 4
	answerLater    = 5
	answerNoChange = 6 // also later
)

const (
	textFollows = "The answer follows."
	textNotNow  = "I could not take that just now. Please try again."
	// answerTimeout bounds what is done to answer an interaction, whose token lasts longer.
	answerTimeout = time.Minute
)

// interaction is a slash command or a click on a button.
type interaction struct {
	ID            string  `json:"id"`
	ApplicationID string  `json:"application_id"`
	Type          int     `json:"type"`
	Token         string  `json:"token"`
	GuildID       string  `json:"guild_id"`
	Channel       channel `json:"channel"`
	ChannelID     string  `json:"channel_id"`
	User          user    `json:"user"` // in a direct message
	Member        struct {
		User user   `json:"user"`
		Nick string `json:"nick"`
	} `json:"member"` // in a server
	Data struct {
		Name     string `json:"name"`
		CustomID string `json:"custom_id"`
		Options  []struct {
			Value any `json:"value"`
		} `json:"options"`
	} `json:"data"`
}

// customPrefix begins the IDs of our buttons.
const customPrefix = "holdfast:"

// customID is Discord's ID of a button.
func customID(b chat.Button) string { return customPrefix + string(b.Action) + ":" + b.Value }

// outcome is how the core handled an interaction.
type outcome struct {
	answer string
	err    error
}

// interact hands an interaction to the core, and answers it within Discord's three seconds:
// once it is accepted or, if that takes long, before.
func (g *gateway) interact(ctx context.Context, data []byte) error {
	var i interaction
	if err := decode(data, &i); err != nil {
		return err
	}
	d, err := i.delivery()
	if err != nil || d == nil {
		return err
	}
	handled := make(chan outcome, 1)
	g.in.Queue(ctx, d, func(answer string, err error) { handled <- outcome{answer, err} })
	g.running.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerTimeout)
		defer cancel()
		if err := g.answer(ctx, &i, handled); err != nil && code(err) != alreadyAnswered {
			g.log.Warn("interaction not answered", "err", err)
		}
	})
	return nil
}

// delivery returns the interaction as the core takes it; nil if it is none of ours.
func (i *interaction) delivery() (chat.Delivery, error) {
	who := i.Member.User
	if i.GuildID == "" {
		who = i.User
	}
	id := cmp.Or(i.ChannelID, i.Channel.ID)
	if _, valid := parseID(id); !valid || i.ID == "" || who.ID == "" {
		return nil, fmt.Errorf("%w: an interaction without ID, channel or user", chat.ErrMalformed)
	}
	origin := chat.Origin{Direct: i.GuildID == "", Bot: who.Bot}
	origin.PlatformID, origin.Sender, origin.SenderName = i.ID, who.ID, cmp.Or(i.Member.Nick, who.name())
	origin.Chat = chatOf(i.GuildID, id)
	if i.Channel.isThread() {
		origin.Chat, origin.Thread = chatOf(i.GuildID, i.Channel.ParentID), id
	}
	switch i.Type {
	case isCommand:
		origin.Text = i.Data.Name
		for _, option := range i.Data.Options {
			origin.Text += fmt.Sprintf(" %v", option.Value)
		}
		return &chat.Command{Origin: origin}, nil
	case isClick:
		action, value, ours := strings.Cut(strings.TrimPrefix(i.Data.CustomID, customPrefix), ":")
		if !ours || !strings.HasPrefix(i.Data.CustomID, customPrefix) {
			return nil, nil
		}
		return &chat.Click{Origin: origin, Action: chat.Action(action), Value: value}, nil
	}
	return nil, nil
}

// answer answers an interaction with its outcome.
func (g *gateway) answer(ctx context.Context, i *interaction, handled <-chan outcome) error {
	timer := time.NewTimer(g.timing.deferral)
	defer timer.Stop()
	select {
	case o := <-handled:
		return g.respond(ctx, i, i.response(o))
	case <-timer.C:
	}
	later := response{Type: answerLater, Data: &outgoing{Flags: onlyForCaller}}
	if i.Type == isClick {
		later = response{Type: answerNoChange}
	}
	if err := g.respond(ctx, i, later); err != nil {
		return err
	}
	o := <-handled
	final := i.response(o)
	if final.Data == nil {
		return nil
	}
	route, method := "/webhooks/%s/%s/messages/@original", http.MethodPatch
	if i.Type == isClick { // the original is the message with the button
		route, method = "/webhooks/%s/%s", http.MethodPost
	}
	return g.call(ctx, request{method: method, route: route, ids: []string{i.ApplicationID, i.Token}, body: final.Data}, nil)
}

// response is the answer to an interaction.
type response struct {
	Type int       `json:"type"`
	Data *outgoing `json:"data,omitempty"`
}

// response returns the answer, which only the caller sees; to a click that was accepted, none.
func (i *interaction) response(o outcome) response {
	text := o.answer
	switch {
	case o.err != nil:
		text = textNotNow
	case i.Type == isClick:
		return response{Type: answerNoChange}
	case text == "":
		text = textFollows
	}
	return response{Type: answerMessage, Data: &outgoing{Content: cut(text, maxContent), Components: []component{}, Flags: onlyForCaller | withoutPreviews}}
}

func (g *gateway) respond(ctx context.Context, i *interaction, r response) error {
	return g.call(ctx, request{method: http.MethodPost, route: "/interactions/%s/%s/callback", ids: []string{i.ID, i.Token}, body: r}, nil)
}
