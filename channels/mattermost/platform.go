package mattermost

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

const (
	// mostRunes is how many characters a post has at most on servers with today's database.
	mostRunes = 16_383
	// textLimit is how many characters of a text are sent in a post: the others are for what
	// keeps it from notifying anybody.
	textLimit = 16_000
	// fewestRunes is the limit of servers with a database from before 2017.
	fewestRunes = 4_000
	configLasts = 24 * time.Hour
	// configTimeout bounds asking for the limit, for which the splitting of a reply waits.
	configTimeout = 5 * time.Second
	// editEvery is how often a draft is edited: the server keeps what a post said before.
	editEvery = 3 * time.Second
	// typingLasts is how often typing is shown again: clients drop it after five seconds.
	typingLasts = 4 * time.Second
)

// platform is Mattermost as a [chat.Platform].
type platform struct {
	o        Options
	web      *http.Client
	files    *http.Client
	hook     *chat.Webhook // nil: there are no buttons
	limits   chat.Limiter
	people   *chat.People
	channels *chat.Cache[channel]
	roots    *chat.Cache[bool] // whether we began a thread, by its first post
	members  *chat.Cache[bool] // whether a person is in one of our teams
	settings *chat.Cache[int]  // characters of a post, by nothing
	pace     chat.Pace         // zero fields: the core's default
	silent   time.Duration     // how long a connection may be silent

	mu   sync.Mutex
	self *user // nil: not asked for yet
}

func newPlatform(o Options) *platform {
	p := &platform{
		o: o, web: newHTTP(callTimeout), files: newHTTP(fileTimeout), limits: chat.Limiter{Service: Name, Patience: patience},
		pace: chat.Pace{Edit: editEvery}, silent: maxSilence,
	}
	p.people = chat.NewPeople(p.lookUp)
	p.channels = chat.NewCache(time.Hour, p.fetchChannel)
	p.roots = chat.NewCache(24*time.Hour, p.isOurs)
	p.members = chat.NewCache(10*time.Minute, p.sharesTeam)
	p.settings = chat.NewCache(configLasts, p.fetchLimit)
	if o.CallbackURL != "" {
		p.hook = newHook(p)
	}
	return p
}

// Name implements [chat.Platform].
func (*platform) Name() string { return Name }

// Limits implements [chat.Platform]. Without buttons, Post says how to answer: Mattermost
// takes what begins with a slash for a command of its own.
func (p *platform) Limits() chat.Limits {
	pace := p.pace
	if pace.Status == 0 {
		pace.Status = typingLasts
	}
	return chat.Limits{Text: textLimit, Measure: p.sizeOf, Buttons: true, Pace: pace}
}

// sizeOf measures Markdown: larger the less the server takes.
func (p *platform) sizeOf(markdown string) int {
	size := chat.Runes(quiet(markdown))
	if size <= fewestRunes {
		return size
	}
	limit := p.limit(context.Background())
	return (size*textLimit + limit - 1) / limit
}

// limit returns how many characters a post may have. While the server does not say, that is
// what every server takes.
func (p *platform) limit(ctx context.Context) int {
	limit, err := p.settings.Get(ctx, "")
	if err != nil {
		return fewestRunes
	}
	return limit
}

func (p *platform) fetchLimit(ctx context.Context, _ string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, configTimeout)
	defer cancel()
	var config struct {
		MaxPostSize string `json:"MaxPostSize"`
	}
	if err := p.call(ctx, http.MethodGet, "/config/client?format=old", nil, &config); err != nil {
		return 0, err
	}
	limit, err := strconv.Atoi(config.MaxPostSize)
	if err != nil || limit <= 0 {
		limit = fewestRunes
	}
	return min(limit, mostRunes), nil
}

// Identify implements [chat.Platform].
func (p *platform) Identify(ctx context.Context) (chat.Self, error) {
	self, err := p.identify(ctx)
	return chat.Self{ID: self.ID, Name: self.Username}, lasting(err)
}

// identify asks the server whom the token belongs to, and remembers the answer.
func (p *platform) identify(ctx context.Context) (user, error) {
	if self, known := p.known(); known {
		return self, nil
	}
	var self user
	if err := p.call(ctx, http.MethodGet, "/users/me", nil, &self); err != nil {
		return user{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.self = &self
	return self, nil
}

// known returns the bot's account without a call.
func (p *platform) known() (self user, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.self == nil {
		return user{}, false
	}
	return *p.self, true
}

// directMark begins the ID of a chat with one person in the rest of the program.
const directMark = "direct/"

// IsDirect reports whether a chat is with one person.
func IsDirect(chat string) bool { return strings.HasPrefix(chat, directMark) }

// IsDirect implements [chat.Directs].
func (*platform) IsDirect(chat string) bool { return IsDirect(chat) }

// channelOf returns Mattermost's ID of a chat.
func channelOf(chat string) string { return strings.TrimPrefix(chat, directMark) }

// Words implements [chat.Worded].
func (*platform) Words() chat.Words {
	return chat.Words{
		Group: "channel", FindPerson: "find a user's ID in the System Console (User Management, Users), or in the log once they have been refused",
		FindGroup: "a channel's ID is at the bottom of View Info",
	}
}

// Indicates implements [chat.Indicator]: we are typing.
func (*platform) Indicates(context.Context, chat.Place) (chat.Indicates, error) {
	return chat.Indicates{Text: true, Lapse: typingLasts}, nil
}

// Indicate implements [chat.Indicator].
func (p *platform) Indicate(ctx context.Context, at chat.Place, what chat.Indication) error {
	if what.Text == "" {
		return nil
	}
	return p.call(ctx, http.MethodPost, "/users/me/typing", map[string]string{"channel_id": channelOf(at.Chat), "parent_id": at.Thread}, nil)
}
