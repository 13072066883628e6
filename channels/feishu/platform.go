package feishu

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
)

const (
	// keyLasts is how long the platform recognizes a uuid: an hour, less what clocks differ.
	keyLasts = 55 * time.Minute
	// partPause keeps the parts of a reply apart: a chat takes five messages a second, of all
	// bots together.
	partPause = 250 * time.Millisecond
)

// platform is Feishu as a [chat.Platform].
type platform struct {
	*client
	o       Options
	log     *slog.Logger
	people  *chat.People
	webhook *chat.Webhook // of ModeWebhook
	pace    chat.Pace     // zero fields: the core's default
	pings   time.Duration // between two pings; 0: as the platform says
	silence time.Duration // after a ping that means that the connection is dead

	store   channels.Store // nil: direct chats are remembered by this process only
	directs memo           // chat IDs of direct chats, by open ID
	topics  memo           // thread IDs of topics, by the message that began them
	cards   cards

	noReactions atomic.Bool // the app may not react

	mu   sync.Mutex
	self chat.Self // its ID is empty until it is known
}

func newPlatform(o Options) *platform {
	p := &platform{client: newClient(o), o: o, log: o.Logger, pace: chat.Pace{Part: partPause}, silence: pongTimeout}
	p.people = chat.NewPeople(p.look)
	p.webhook = newWebhook(p)
	return p
}

// Name implements [chat.Platform].
func (*platform) Name() string { return Name }

// KeyLasts implements [chat.Keyed].
func (*platform) KeyLasts() time.Duration { return keyLasts }

// Limits implements [chat.Platform].
func (p *platform) Limits() chat.Limits {
	return chat.Limits{
		Text: cardLimit, Measure: sizeOf, Cut: cutTables, Code: chat.Code{Runes: 6000, Lines: 150},
		Buttons: true, Pace: p.pace,
	}
}

// IsDirect reports whether a chat is the direct chat with a person.
func IsDirect(chat string) bool { return strings.HasPrefix(chat, "ou_") }

// IsDirect implements [chat.Directs].
func (*platform) IsDirect(chat string) bool { return IsDirect(chat) }

// Identify implements [chat.Platform].
func (p *platform) Identify(ctx context.Context) (chat.Self, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.self.ID != "" {
		return p.self, nil
	}
	var answer struct {
		Bot struct {
			OpenID string `json:"open_id"`
			Name   string `json:"app_name"`
		} `json:"bot"`
	}
	if err := p.call(ctx, request{name: "bot info", path: "/open-apis/bot/v3/info"}, &answer); err != nil {
		return chat.Self{}, fmt.Errorf("identify with feishu: %w", err)
	}
	if answer.Bot.OpenID == "" {
		return chat.Self{}, errors.New("identify with feishu: the app has no bot: add the bot capability")
	}
	p.self = chat.Self{ID: answer.Bot.OpenID, Name: answer.Bot.Name}
	return p.self, nil
}

var errNotReady = errors.New("not yet identified with feishu")

// known returns the bot's open ID without a call.
func (p *platform) known() (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.self.ID == "" {
		return "", errNotReady
	}
	return p.self.ID, nil
}

// Receive implements [chat.Platform].
func (p *platform) Receive(ctx context.Context, in chat.Inbox) error {
	if p.o.Mode == ModeWebhook {
		return p.webhook.Serve(ctx, in)
	}
	return p.receiveSocket(ctx, in)
}

// Busy implements [chat.Throttled].
func (p *platform) Busy(at chat.Place) bool { return p.limits.Busy(methodSend, at.Chat) }

// directChat returns the ID of the direct chat with a person; empty if it was never learned.
// Nothing at the platform leads from one to the other.
func (p *platform) directChat(ctx context.Context, person string) (string, error) {
	if id := p.directs.get(person); id != "" || p.store == nil {
		return id, nil
	}
	id, err := p.store.Cursor(ctx, Name, noteOf(person))
	p.directs.put(person, id)
	return id, err
}

// learnDirect remembers the ID of the direct chat with a person.
func (p *platform) learnDirect(ctx context.Context, person, chat string) {
	if chat == "" || p.directs.get(person) == chat {
		return
	}
	p.directs.put(person, chat)
	if p.store == nil {
		return
	}
	if err := p.store.SetCursor(ctx, Name, noteOf(person), chat); err != nil {
		p.log.Debug("the direct chat of a person was not stored", "user_id", person, "err", err)
	}
}

func noteOf(person string) string { return "chat/" + person }

// maxMemo bounds what a [memo] remembers.
const maxMemo = 10_000

// memo remembers IDs by others. The zero value is empty.
type memo struct {
	mu  sync.Mutex
	ids map[string]string
}

func (m *memo) get(key string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ids[key]
}

func (m *memo) put(key, id string) {
	if key == "" || id == "" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ids == nil || len(m.ids) >= maxMemo {
		m.ids = map[string]string{}
	}
	m.ids[key] = id
}

// newWebhook returns the server to which the platform delivers in ModeWebhook.
func newWebhook(p *platform) *chat.Webhook {
	return &chat.Webhook{
		Name: Name, Title: "Feishu", Listen: p.o.Listen, Path: p.o.Path, Logger: p.log,
		Verify: func(header http.Header, body []byte) error { return p.verify(header, body, time.Now()) },
		Read: func(_ http.Header, body []byte) (chat.Delivery, any, error) {
			payload, err := decrypted(body, p.o.EncryptKey)
			if err != nil {
				return nil, nil, err
			}
			return p.parse(payload)
		},
	}
}
