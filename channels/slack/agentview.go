package slack

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/slack-go/slack"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// asThread has a message in a direct chat begin a thread of its own, as the agent view shows
// them. The message is itself part of the thread.
func (p *platform) asThread(d chat.Delivery) {
	var o *chat.Origin
	switch d := d.(type) {
	case *chat.Post:
		o = &d.Origin
	case *chat.Change:
		o = &d.Origin
	}
	if p.o.AgentView && o != nil && o.Direct && o.Thread == "" {
		o.Opens = o.PlatformID
	}
}

// Entitle implements [chat.Titler]: the agent view lists the threads of a direct chat by
// their titles.
func (p *platform) Entitle(ctx context.Context, at chat.Place, title string) error {
	if !p.o.AgentView || !IsDirect(at.Chat) || p.noTitles.Load() {
		return nil
	}
	title, _ = p.WithNames(ctx, title) // without them it has IDs
	err := p.call(ctx, "assistant.threads.setTitle", channelOf(at.Chat), func(ctx context.Context) error {
		return p.api.SetAssistantThreadsTitleContext(ctx, slack.AssistantThreadsSetTitleParameters{
			ChannelID: channelOf(at.Chat), ThreadTS: at.Thread, Title: title,
		})
	})
	if unsupported[code(err)] {
		p.noTitles.Store(true)
	}
	return err
}

// appContext is what a person looks at while they write in the agent view. Whatever it is,
// what they wrote counts.
type appContext json.RawMessage

// UnmarshalJSON implements json.Unmarshaler.
func (c *appContext) UnmarshalJSON(raw []byte) error {
	*c = append((*c)[:0], raw...)
	return nil
}

// note says which channel or message the person looks at; empty if it is something else.
func (c appContext) note() string {
	var seen struct { // the most relevant first
		Entities []struct {
			Type  string          `json:"type"`
			Value json.RawMessage `json:"value"`
		} `json:"entities"`
	}
	_ = json.Unmarshal(c, &seen) // what is malformed is not said
	for _, e := range seen.Entities {
		var channel string
		var message struct {
			Channel string `json:"channel_id"`
			TS      string `json:"message_ts"`
		}
		switch {
		case e.Type == "slack#/types/channel_id" && json.Unmarshal(e.Value, &channel) == nil && channelID.MatchString(channel):
			return fmt.Sprintf("(I am looking at <#%s>.)", channel)
		case e.Type == "slack#/types/message_context" && json.Unmarshal(e.Value, &message) == nil &&
			channelID.MatchString(message.Channel) && timestamp.MatchString(message.TS):
			return fmt.Sprintf("(I am looking at the message %s in <#%s>.)", message.TS, message.Channel)
		}
	}
	return ""
}

// withNote adds what the person looks at to what they wrote, unless that is a command or may
// answer a question.
func (c appContext) withNote(text string) string {
	if answer, _ := domain.ParseAnswer(text); text == "" || answer != domain.CommandNone {
		return text
	}
	return joined("\n\n", text, c.note())
}
