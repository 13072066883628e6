package slack

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"time"

	"github.com/slack-go/slack"
	"golang.org/x/sync/singleflight"
)

const (
	knownFor  = 24 * time.Hour
	knownMost = 10_000 // people and channels that are remembered
)

// known is a person or a channel, as we show and find them.
type known struct {
	name  string // empty: there is no such one, or we may not know
	zone  string // of a person: IANA name of their time zone
	until time.Time
}

// people remembers who is behind the IDs of users and what is behind those of
// channels. The zero value knows none. Safe for concurrent use.
type people struct {
	flight singleflight.Group
	mu     sync.Mutex
	byID   map[string]known
}

func (p *people) get(id string) (known, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	k, found := p.byID[id]
	return k, found && time.Now().Before(k.until)
}

func (p *people) put(id string, k known) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byID == nil || len(p.byID) >= knownMost {
		p.byID = map[string]known{}
	}
	k.until = time.Now().Add(knownFor)
	p.byID[id] = k
}

// named returns the ID of the user whom, or the channel that, we know by this name,
// whatever its case; empty if there is none, or more than one.
func (p *people) named(name string, user bool) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	only := ""
	for id, k := range p.byID {
		if isUser(id) != user || k.name == "" || !strings.EqualFold(k.name, name) || time.Now().After(k.until) {
			continue
		}
		if only != "" {
			return ""
		}
		only = id
	}
	return only
}

func isUser(id string) bool { return strings.HasPrefix(id, "U") || strings.HasPrefix(id, "W") }

// who is the user or channel with this ID. Its name is empty if Slack does not tell.
func (c *Channel) who(ctx context.Context, id string) (known, error) {
	if k, found := c.people.get(id); found {
		return k, nil
	}
	asked, err, _ := c.people.flight.Do(id, func() (any, error) {
		k, err := c.ask(context.WithoutCancel(ctx), id)
		if err == nil {
			c.people.put(id, k)
		}
		return k, err
	})
	k, _ := asked.(known)
	return k, err
}

// ask asks Slack who that is.
func (c *Channel) ask(ctx context.Context, id string) (k known, err error) {
	if isUser(id) {
		var user *slack.User
		if user, err = c.user(ctx, id); err == nil {
			k = known{name: nameOf(user), zone: user.TZ}
		}
	} else {
		var channel *slack.Channel
		if channel, err = c.conversation(ctx, id); err == nil {
			k = known{name: channel.Name}
		}
	}
	if invisible[code(err)] {
		return known{}, nil
	}
	return k, err
}

// invisible are Slack's errors for an ID of which we may know nothing.
var invisible = map[string]bool{"user_not_found": true, "users_not_found": true, "user_not_visible": true, "channel_not_found": true}

func (c *Channel) user(ctx context.Context, id string) (user *slack.User, err error) {
	err = c.call(ctx, "users.info", "", func(ctx context.Context) error {
		user, err = c.api.GetUserInfoContext(ctx, id)
		return err
	})
	return user, err
}

// nameOf is how people see a user.
func nameOf(user *slack.User) string {
	return cmp.Or(user.Profile.DisplayName, user.RealName, user.Profile.RealName, user.Name)
}

func (c *Channel) conversation(ctx context.Context, id string) (channel *slack.Channel, err error) {
	err = c.call(ctx, "conversations.info", "", func(ctx context.Context) error {
		channel, err = c.api.GetConversationInfoContext(ctx, &slack.GetConversationInfoInput{ChannelID: id})
		return err
	})
	return channel, err
}
