package telegram

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

const (
	textLimit    = 4096 // UTF-16 units of a message, without its markup
	captionLimit = 1024 // of a file's caption
	// fileLimit is what Telegram hands to bots.
	fileLimit = 20 << 20
)

// Telegram takes about one message a second in a chat and 20 a minute in a group. It does
// not say how large bursts may be.
var (
	directRhythm = chat.Rhythm{Every: time.Second, Burst: 20}
	groupRhythm  = chat.Rhythm{Every: 3 * time.Second, Burst: 10}
)

// platform is Telegram as a [chat.Platform].
type platform struct {
	client
	o       Options
	limits  chat.Limiter
	pacer   chat.Pacer
	pace    chat.Pace // zero fields: the core's default
	polling polling
	webhook *chat.Webhook // of ModeWebhook

	mu     sync.Mutex
	self   *user            // nil: not asked for yet
	albums map[int64]string // by chat: the last album that mentioned us
}

func newPlatform(o Options) *platform {
	p := &platform{
		client: newClient(o), o: o, polling: defaultPolling, albums: map[int64]string{},
		limits: chat.Limiter{Service: Name}, pacer: chat.Pacer{Service: Name, Of: rhythm},
	}
	p.webhook = newWebhook(p)
	return p
}

func rhythm(chat string) chat.Rhythm {
	if isDirect(chat) {
		return directRhythm
	}
	return groupRhythm
}

// Name implements [chat.Platform].
func (*platform) Name() string { return Name }

// Limits implements [chat.Platform].
func (p *platform) Limits() chat.Limits {
	return chat.Limits{
		Text: textLimit, Measure: width, Code: chat.Code{Runes: 3000, Lines: 60}, Draft: 3000, Buttons: true, Pace: p.pace,
	}
}

// user is an account, as Telegram describes it.
type user struct {
	ID        int64  `json:"id"`
	IsBot     bool   `json:"is_bot"`
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	Username  string `json:"username"` // without @; empty: none
	// ReadsAll is whether a bot sees all messages of its groups: privacy mode is off.
	ReadsAll bool `json:"can_read_all_group_messages"`
}

// name is the name under which people see an account.
func (u *user) name() string { return oneLine(u.FirstName + " " + u.LastName) }

// Identify implements [chat.Platform].
func (p *platform) Identify(ctx context.Context) (chat.Self, error) {
	self, err := p.whoAmI(ctx)
	return chat.Self{ID: id(self.ID), Name: self.Username}, err
}

// whoAmI asks Telegram who the token belongs to, and remembers the answer.
func (p *platform) whoAmI(ctx context.Context) (user, error) {
	if self, known := p.known(); known {
		return self, nil
	}
	var self user
	if err := p.call(ctx, "getMe", nil, &self); err != nil {
		return user{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.self = &self
	return self, nil
}

// known returns the bot's account without a call to Telegram; false before Identify.
func (p *platform) known() (user, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.self == nil {
		return user{}, false
	}
	return *p.self, true
}

func id(n int64) string { return strconv.FormatInt(n, 10) }

// IsDirect reports whether a chat is a private one: those have the ID of the person.
func IsDirect(chat string) bool { return isDirect(chat) }

func isDirect(chat string) bool {
	return !strings.HasPrefix(chat, "-") && !strings.HasPrefix(chat, "@")
}

// IsDirect implements [chat.Directs].
func (*platform) IsDirect(chat string) bool { return isDirect(chat) }
