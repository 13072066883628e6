package http

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// conversation is what a chat request says. Its hashes ignore white space, which clients
// change.
type conversation struct {
	sender  string
	system  string           // the client's instructions
	earlier []domain.Message // what was said before, in order
	text    string           // the message to answer
}

// conversation divides the messages: the last of the user is the one to answer.
func (c *chatRequest) conversation() (conversation, error) {
	conv := conversation{sender: c.sender()}
	last := -1
	for i, m := range c.Messages {
		if domain.Role(m.Role) == domain.RoleUser {
			last = i
		}
	}
	if last < 0 {
		return conv, invalid("messages", "messages has no message with the role user: the agent answers the last one")
	}
	var err error
	if conv.text, err = c.Messages[last].text(); err != nil {
		return conv, err
	}
	var instructions []string
	for i, m := range c.Messages {
		text := m.anyText()
		switch role := domain.Role(m.Role); {
		case role == domain.RoleSystem, m.Role == "developer":
			instructions = append(instructions, text)
		case i < last && (role == domain.RoleUser || role == domain.RoleAssistant) && strings.TrimSpace(text) != "":
			said := domain.Message{Role: role, Content: text}
			if role == domain.RoleUser {
				said.Sender = conv.sender
			}
			conv.earlier = append(conv.earlier, said)
		}
	}
	conv.system = strings.Join(instructions, "\n\n")
	return conv, nil
}

// before identifies what was said before; it is empty if nothing was.
func (c conversation) before() string {
	if len(c.earlier) == 0 {
		return ""
	}
	return c.hash(c.earlier...)
}

// after identifies what has been said once the client has the reply.
func (c conversation) after(reply string) string {
	return c.hash(append(slices.Clip(c.earlier),
		domain.Message{Role: domain.RoleUser, Content: c.text}, domain.Message{Role: domain.RoleAssistant, Content: reply})...)
}

// request identifies the request. Key is the client's; it may be empty.
func (c conversation) request(key string) string {
	return c.hash(append(slices.Clip(c.earlier), domain.Message{Role: domain.RoleSystem, Content: c.system},
		domain.Message{Role: domain.RoleUser, Content: c.text}, domain.Message{Role: "key", Content: key})...)
}

func (c conversation) hash(messages ...domain.Message) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q\n", c.sender)
	for _, m := range messages {
		fmt.Fprintf(h, "%s %q\n", m.Role, strings.Join(strings.Fields(m.Content), " "))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// openChat is a chat request that is being answered.
type openChat struct {
	api     *api
	conv    conversation
	session string // key
	request string // empty: the client named the chat, or the backend keeps none
}

// open finds the chat of a message and sets the message's IDs. Key and name are the client's;
// they may be empty.
func (a *api) open(ctx context.Context, conv conversation, msg *domain.Inbound, key, name string) (*openChat, error) {
	msg.Chat = cmp.Or(name, "chat-"+msg.PlatformID)
	if a.chats == nil {
		return &openChat{api: a, conv: conv}, nil
	}
	if err := checkName("session", msg.Chat); err != nil {
		return nil, err
	}
	request := domain.ChatRequest{
		Channel: Name, Message: msg.PlatformID, New: msg.Chat, Named: name != "",
		Request: conv.request(key), Before: conv.before(), Earlier: conv.earlier[max(0, len(conv.earlier)-earlierLimit):],
	}
	found, err := a.chats.OpenChat(ctx, request)
	if err != nil {
		return nil, err
	}
	msg.Chat, msg.PlatformID = found.Name, found.Message
	opened := &openChat{api: a, conv: conv, session: domain.SessionKey(Name, found.Name, "")}
	if name == "" {
		opened.request = request.Request
	}
	return opened, nil
}

// earlierLimit bounds the messages that become the earlier turns of a new chat.
const earlierLimit = 1000

// answered is called before the end of the answer is sent: the next request may come at once.
func (o *openChat) answered(ctx context.Context, reply string) { o.said(ctx, o.conv.after(reply)) }

// failed is called when the turn had no answer: the client has what it had before.
func (o *openChat) failed(ctx context.Context) {
	o.said(ctx, o.conv.before())
	o.received(ctx)
}

func (o *openChat) said(ctx context.Context, said string) {
	o.change(ctx, func(ctx context.Context) error { return o.api.chats.AnsweredChat(ctx, o.session, o.request, said) })
}

// received is called when the client has the answer. Until then the same request is a
// repetition.
func (o *openChat) received(ctx context.Context) {
	if ctx.Err() == nil {
		o.change(ctx, func(ctx context.Context) error { return o.api.chats.ReceivedChat(ctx, o.session, o.request) })
	}
}

func (o *openChat) change(ctx context.Context, change func(context.Context) error) {
	if o.request == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), acceptTimeout)
	defer cancel()
	if err := change(ctx); err != nil {
		o.api.log.Warn("the next message of a chat starts a new session", "session", o.session, "err", err)
	}
}
