package feishu

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

const typeChallenge = "url_verification"

// The events that are read.
const (
	eventMessage    = "im.message.receive_v1"
	eventClick      = "card.action.trigger"
	eventBotAdded   = "im.chat.member.bot.added_v1"
	eventBotRemoved = "im.chat.member.bot.deleted_v1"
)

// envelope is what is delivered.
type envelope struct {
	Type      string `json:"type"` // of what is no event
	Challenge string `json:"challenge"`
	Token     string `json:"token"`
	Header    struct {
		EventID   string `json:"event_id"`
		EventType string `json:"event_type"`
		Token     string `json:"token"`
		AppID     string `json:"app_id"`
		TenantKey string `json:"tenant_key"`
	} `json:"header"`
	Event json.RawMessage `json:"event"`
}

// token returns the verification token.
func (e envelope) token() string { return cmp.Or(e.Header.Token, e.Token) }

// parse returns what a payload delivers; nil if nothing. reply is the response.
func (p *platform) parse(payload []byte) (d chat.Delivery, reply any, err error) {
	var e envelope
	if err := decode(payload, &e); err != nil {
		return nil, nil, err
	}
	if e.Type == typeChallenge {
		return nil, map[string]string{"challenge": e.Challenge}, nil
	}
	if app := e.Header.AppID; app != "" && app != p.appID {
		p.log.Info("event of another app ignored", "app_id", app)
		return nil, nil, nil
	}
	switch e.Header.EventType {
	case eventMessage:
		d, err := p.readMessage(e)
		return d, nil, err
	case eventClick:
		d, err := p.readClick(e)
		return d, struct{}{}, err // a click wants an answer
	case eventBotAdded, eventBotRemoved:
		p.log.Info("the bot was added to a chat or removed", "event", e.Header.EventType, "chat", chatIn(e.Event))
	default:
		p.log.Debug("event ignored", "event", e.Header.EventType)
	}
	return nil, nil, nil
}

func decode(payload []byte, into any) error {
	if err := json.Unmarshal(payload, into); err != nil {
		return fmt.Errorf("%w: %w", chat.ErrMalformed, err)
	}
	return nil
}

func chatIn(event json.RawMessage) string {
	var about struct {
		ChatID string `json:"chat_id"`
	}
	_ = json.Unmarshal(event, &about) // it is only logged
	return about.ChatID
}

// messageEvent is a message that somebody wrote.
type messageEvent struct {
	Sender struct {
		ID struct {
			OpenID string `json:"open_id"`
		} `json:"sender_id"`
		Type   string `json:"sender_type"`
		Tenant string `json:"tenant_key"`
	} `json:"sender"`
	Message struct {
		ID       string    `json:"message_id"`
		Root     string    `json:"root_id"`
		Thread   string    `json:"thread_id"`
		Chat     string    `json:"chat_id"`
		ChatType string    `json:"chat_type"`
		Type     string    `json:"message_type"`
		Content  string    `json:"content"`
		Created  string    `json:"create_time"` // milliseconds
		Mentions []mention `json:"mentions"`
	} `json:"message"`
}

// maxID bounds the length of an ID.
const maxID = 100

// isID reports whether a text is an ID of a kind: om_ of a message, oc_ of a chat, ou_ (open
// ID) of a person. What follows is not documented.
func isID(kind, id string) bool {
	rest, is := strings.CutPrefix(id, kind)
	return is && rest != "" && len(rest) <= maxID && strings.IndexFunc(rest, isOdd) < 0
}

func isOdd(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
}

func (p *platform) readMessage(e envelope) (chat.Delivery, error) {
	var event messageEvent
	if err := decode(e.Event, &event); err != nil {
		return nil, err
	}
	m, sender := event.Message, event.Sender.ID.OpenID
	if !isID("om_", m.ID) || !isID("oc_", m.Chat) || !isID("ou_", sender) || m.Root != "" && !isID("om_", m.Root) {
		return nil, fmt.Errorf("%w: a message without ID, chat or author", chat.ErrMalformed)
	}
	self, err := p.known()
	if err != nil {
		return nil, err
	}
	post := &chat.Post{Own: sender == self}
	post.PlatformID, post.Chat, post.Sender, post.SentAt = m.ID, m.Chat, sender, sentAt(m.Created)
	post.Outsider = isOutside(event.Sender.Tenant, e)
	post.Bot = event.Sender.Type != "" && event.Sender.Type != "user"
	if m.ChatType == "p2p" {
		post.Direct, post.Chat = true, sender
	}
	switch {
	case m.Thread != "":
		post.Thread = cmp.Or(m.Root, m.ID)
		p.topics.put(post.Thread, m.Thread)
	case p.o.Topics && !post.Direct:
		post.Opens = m.ID
	}
	c := readContent(m.ID, m.Type, m.Content, m.Mentions, self)
	post.Text, post.Files, post.Mentioned = c.text, c.files, c.mentioned
	for _, who := range m.Mentions {
		p.people.Put(who.ID.OpenID, chat.Profile{Name: who.Name, Person: true})
	}
	return post, nil
}

// isOutside reports whether somebody belongs to another tenant than the app.
func isOutside(tenant string, e envelope) bool {
	return tenant != "" && e.Header.TenantKey != "" && tenant != e.Header.TenantKey
}

// sentAt returns the time of a message; zero if it is not readable.
func sentAt(milliseconds string) time.Time {
	ms, err := strconv.ParseInt(milliseconds, 10, 64)
	if err != nil || ms <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// clickEvent is a click on a button of a card.
type clickEvent struct {
	Operator struct {
		OpenID string `json:"open_id"`
		Tenant string `json:"tenant_key"`
	} `json:"operator"`
	Action struct {
		Value json.RawMessage `json:"value"`
	} `json:"action"`
	Context struct {
		MessageID string `json:"open_message_id"`
		ChatID    string `json:"open_chat_id"`
	} `json:"context"`
}

// buttonValue is what our buttons carry: a click does not say in which topic it was made,
// nor whether the chat is a direct one.
type buttonValue struct {
	Action string `json:"holdfast"`
	Value  string `json:"value"`
	Chat   string `json:"chat"`
	Thread string `json:"thread,omitempty"`
}

func (p *platform) readClick(e envelope) (chat.Delivery, error) {
	var event clickEvent
	if err := decode(e.Event, &event); err != nil {
		return nil, err
	}
	if !isID("ou_", event.Operator.OpenID) || e.Header.EventID == "" {
		return nil, fmt.Errorf("%w: a click without person or ID", chat.ErrMalformed)
	}
	var value buttonValue
	if json.Unmarshal(event.Action.Value, &value) != nil || !actions[chat.Action(value.Action)] {
		p.log.Info("click on an unknown button ignored")
		return nil, nil //nolint:nilerr // it is no button of ours
	}
	click := &chat.Click{Action: chat.Action(value.Action), Value: value.Value}
	click.PlatformID, click.Sender = e.Header.EventID, event.Operator.OpenID
	click.Outsider = isOutside(event.Operator.Tenant, e)
	click.Chat, click.Thread, click.Direct = value.Chat, value.Thread, IsDirect(value.Chat)
	// A card can be forwarded: its buttons work only where we sent it.
	if click.Direct && click.Chat != click.Sender || !click.Direct && click.Chat != event.Context.ChatID {
		p.log.Info("click on a forwarded card ignored", "chat", event.Context.ChatID, "user_id", click.Sender)
		return nil, nil
	}
	return click, nil
}

var actions = map[chat.Action]bool{chat.ActionApprove: true, chat.ActionDeny: true, chat.ActionStop: true}
