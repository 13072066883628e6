package discord

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// pointed is a channel or a person as a text refers to them.
var pointed = regexp.MustCompile(`^<(#|@)!?(\d+)>$`)

// Recipient implements [chat.Addresses]. An ID without a sign is that of a channel.
func (*platform) Recipient(_ context.Context, to string) (chat.Recipient, error) {
	if found := pointed.FindStringSubmatch(to); found != nil {
		to = found[1] + found[2]
	}
	if IsDirect(to) {
		return chat.Recipient{Name: to, Direct: true}, nil
	}
	if _, isID := parseID(channelOf(to)); isID {
		to = channelOf(to)
	}
	return chat.Recipient{Name: strings.TrimLeft(to, "@#"), Person: strings.HasPrefix(to, "@")}, nil
}

// FindChat implements [chat.Addresses].
func (p *platform) FindChat(ctx context.Context, name string) (*chat.Chat, error) {
	if _, isID := parseID(name); isID {
		var c channel
		err := p.call(ctx, request{method: http.MethodGet, route: "/channels/%s", ids: []string{name}}, &c)
		switch failed := remote.As(err); {
		case failed != nil && !failed.Permanent():
			return nil, err
		case failed != nil || c.GuildID == "" || c.isThread():
			return nil, nil //nolint:nilerr // there is none
		}
		return c.chat(), nil
	}
	var found []channel
	err := p.eachServer(ctx, func(guild string) error {
		var all []channel
		err := p.call(ctx, request{method: http.MethodGet, route: "/guilds/%s/channels", ids: []string{guild}}, &all)
		for _, c := range all {
			if strings.EqualFold(c.Name, name) && c.Type != typeCategory && c.Type != typeForum && c.Type != typeMedia {
				c.GuildID = guild
				found = append(found, c)
			}
		}
		return err
	})
	switch {
	case err != nil || len(found) == 0:
		return nil, err
	case len(found) > 1:
		return nil, fmt.Errorf("several channels are called %s; use the ID of one", name)
	}
	return found[0].chat(), nil
}

func (c channel) chat() *chat.Chat {
	return &chat.Chat{ID: chatOf(c.GuildID, c.ID), Name: c.Name, Private: c.isPrivate()}
}

// IsMember implements [chat.Addresses]: whether a person sees a channel.
func (p *platform) IsMember(ctx context.Context, in, person string) (bool, error) {
	guild, id, _ := strings.Cut(in, "/")
	var member member
	err := p.call(ctx, request{method: http.MethodGet, route: "/guilds/%s/members/%s", ids: []string{guild, person}}, &member)
	if failed := remote.As(err); failed != nil && failed.Permanent() {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var of serverRights
	if err := p.call(ctx, request{method: http.MethodGet, route: "/guilds/%s", ids: []string{guild}}, &of); err != nil {
		return false, err
	}
	var c channel
	if err := p.call(ctx, request{method: http.MethodGet, route: "/channels/%s", ids: []string{id}}, &c); err != nil {
		return false, err
	}
	member.User.ID = person
	return of.sees(member, c), nil
}

// FindPeople implements [chat.Addresses].
func (p *platform) FindPeople(ctx context.Context, name string) (found []chat.Person, err error) {
	if _, isID := parseID(name); isID {
		return []chat.Person{{ID: name}}, nil
	}
	err = p.eachServer(ctx, func(guild string) error {
		var all []member
		err := p.call(ctx, request{
			method: http.MethodGet, route: "/guilds/%s/members/search", ids: []string{guild}, query: url.Values{"query": {name}, "limit": {"100"}},
		}, &all)
		for _, m := range all {
			who := chat.Person{ID: m.User.ID, Name: m.User.name()}
			called := slices.ContainsFunc([]string{m.Nick, m.User.GlobalName, m.User.Username}, func(own string) bool { return strings.EqualFold(own, name) })
			if called && !m.User.Bot && !slices.ContainsFunc(found, func(other chat.Person) bool { return other.ID == who.ID }) {
				found = append(found, who)
			}
		}
		return err
	})
	return found, err
}

// OpenDirect implements [chat.Addresses].
func (p *platform) OpenDirect(ctx context.Context, person string) (string, error) {
	direct, err := p.openDirect(ctx, person)
	if failed := remote.As(err); failed != nil && failed.Permanent() {
		return "", fmt.Errorf("there is no one to write to with the ID %s", person)
	}
	return direct, err
}

// eachServer calls f for each server that we are in.
func (p *platform) eachServer(ctx context.Context, f func(guild string) error) error {
	var guilds []server
	if err := p.call(ctx, request{method: http.MethodGet, route: "/users/@me/guilds"}, &guilds); err != nil {
		return err
	}
	for _, s := range guilds {
		if err := f(s.ID); err != nil {
			return err
		}
	}
	return nil
}

const (
	chatForm = "the ID of a channel or direct message, such as 123456789012345678 or SERVER/CHANNEL " +
		"(turn on Developer Mode in Discord's advanced settings, then right-click the channel, Copy Channel ID)"
	threadForm = "the ID of a thread, such as 123456789012345678"
)

// Locate implements [channels.Locator]. It asks Discord for the server if that is left out.
func (p *platform) Locate(ctx context.Context, in, thread string) (string, error) {
	guild, id, whole := strings.Cut(in, "/")
	if !whole {
		guild, id = "", in
	}
	_, validGuild := parseID(guild)
	if _, valid := parseID(id); !valid || whole && !validGuild && guild != directServer {
		return "", channels.MalformedError{What: "chat", Value: in, Want: chatForm}
	}
	if _, valid := parseID(thread); thread != "" && !valid {
		return "", channels.MalformedError{What: "thread", Value: thread, Want: threadForm}
	}
	if whole {
		return in, nil
	}
	var c channel
	if err := p.call(ctx, request{method: http.MethodGet, route: "/channels/%s", ids: []string{id}}, &c); err != nil {
		return "", fmt.Errorf("look up the server of %s (or give it, as in SERVER/%s): %w", id, id, err)
	}
	return chatOf(c.GuildID, id), nil
}
