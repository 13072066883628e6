package chat

import (
	"context"
	"regexp"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

const (
	profileLasts = 24 * time.Hour
	maxProfiles  = 10_000
)

// People caches the profiles of people and chats. Safe for concurrent use.
type People struct {
	look   func(ctx context.Context, id string) (Profile, error)
	flight singleflight.Group

	mu   sync.Mutex
	byID map[string]cachedProfile
}

type cachedProfile struct {
	Profile
	until time.Time
}

// NewPeople returns a cache of the results of look.
func NewPeople(look func(ctx context.Context, id string) (Profile, error)) *People {
	return &People{look: look, byID: map[string]cachedProfile{}}
}

// Who returns the profile of an ID.
func (p *People) Who(ctx context.Context, id string) (Profile, error) {
	p.mu.Lock()
	cached, found := p.byID[id]
	p.mu.Unlock()
	if found && time.Now().Before(cached.until) {
		return cached.Profile, nil
	}
	looked, err, _ := p.flight.Do(id, func() (any, error) {
		profile, err := p.look(context.WithoutCancel(ctx), id)
		if err == nil {
			p.Put(id, profile)
		}
		return profile, err
	})
	profile, _ := looked.(Profile)
	return profile, err
}

// Put caches a profile.
func (p *People) Put(id string, profile Profile) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.byID) >= maxProfiles {
		clear(p.byID)
	}
	p.byID[id] = cachedProfile{profile, time.Now().Add(profileLasts)}
}

// Named returns the ID of the only cached person, or chat, of this name, whatever its
// case; empty if none or several match.
func (p *People) Named(name string, person bool) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	only := ""
	for id, cached := range p.byID {
		if cached.Person != person || cached.Name == "" || !strings.EqualFold(cached.Name, name) || time.Now().After(cached.until) {
			continue
		}
		if only != "" {
			return ""
		}
		only = id
	}
	return only
}

// addressed matches a person addressed by a name of up to three words.
var addressed = regexp.MustCompile(`(^|[^\pL\pN_<@/.])@([\pL\pN_][\pL\pN_.'’-]*(?: [\pL\pN_][\pL\pN_.'’-]*){0,2})`)

// Mention replaces cached people addressed by name (@ana) with the result of mention for
// their IDs.
func (p *People) Mention(text string, mention func(id string) string) string {
	return addressed.ReplaceAllStringFunc(text, func(match string) string {
		found := addressed.FindStringSubmatch(match)
		before, name := found[1], found[2]
		for {
			if id := p.Named(name, true); id != "" {
				return before + mention(id) + found[2][len(name):]
			}
			if trimmed := strings.TrimRight(name, ".'’-"); trimmed != name {
				name = trimmed
				continue
			}
			at := strings.LastIndexByte(name, ' ')
			if at < 0 {
				return match
			}
			name = name[:at]
		}
	})
}
