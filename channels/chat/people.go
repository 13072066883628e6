package chat

import (
	"context"
	"regexp"
	"strings"
	"time"
)

// profileLasts is how long a profile is remembered.
const profileLasts = 24 * time.Hour

// People caches the profiles of people and chats. Safe for concurrent use.
type People struct{ profiles *Cache[Profile] }

// NewPeople returns a cache of the results of look.
func NewPeople(look func(ctx context.Context, id string) (Profile, error)) *People {
	return &People{NewCache(profileLasts, look)}
}

// Who returns the profile of an ID.
func (p *People) Who(ctx context.Context, id string) (Profile, error) { return p.profiles.Get(ctx, id) }

// Put caches a profile.
func (p *People) Put(id string, profile Profile) { p.profiles.Put(id, profile) }

// Named returns the ID of the only cached person, or chat, of this name, whatever its
// case; empty if none or several match.
func (p *People) Named(name string, person bool) string {
	p.profiles.mu.Lock()
	defer p.profiles.mu.Unlock()
	only := ""
	for id, known := range p.profiles.byID {
		who := known.value
		if who.Person != person || who.Name == "" || !strings.EqualFold(who.Name, name) || time.Now().After(known.until) {
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
