package chat

import (
	"context"
	"fmt"
	"strings"
)

// Addresses is a [Platform] on which we can write to chats from which no message was received.
type Addresses interface {
	// Recipient parses how a person names a recipient: "#ops", "@ana", or an ID.
	Recipient(ctx context.Context, to string) (Recipient, error)
	// FindChat returns the chat with this ID or name that we are in, or nil.
	FindChat(ctx context.Context, name string) (*Chat, error)
	// IsMember reports whether a person is in a chat.
	IsMember(ctx context.Context, chat, person string) (bool, error)
	// FindPeople returns the people with this ID or name. IDs need not exist.
	FindPeople(ctx context.Context, name string) ([]Person, error)
	// OpenDirect returns the direct chat with a person. The error says why there can be
	// none.
	OpenDirect(ctx context.Context, person string) (chat string, err error)
}

// Recipient is what a person named. It is a chat unless Person or Direct is set.
type Recipient struct {
	Name   string // or ID; empty: nothing was named
	Person bool
	Direct bool // a direct chat
}

// Chat is a chat that we are in.
type Chat struct {
	ID       string // as in inbound messages
	Name     string
	Private  bool
	Archived bool
}

// Person is somebody who can be written to.
type Person struct{ ID, Name string }

// Resolver finds the recipients of messages; workers use it.
type Resolver struct {
	platform Platform
	access   Access
}

// NewResolver returns the resolver of a platform.
func NewResolver(p Platform, a Access) *Resolver { return &Resolver{p, a} }

// Resolve implements [channels.RecipientResolver]. A chat may be written to if it is
// allowed and both we and the sender are in it; a person in a direct message if they are
// on the list of users, or are the sender. Paired people are not on the list. A chat that the
// sender cannot see is reported like one that does not exist.
func (r *Resolver) Resolve(ctx context.Context, sender, to string) (chat string, err error) {
	addresses, ok := r.platform.(Addresses)
	if !ok {
		return "", fmt.Errorf("%s can only be used for replies", r.platform.Name())
	}
	recipient, err := addresses.Recipient(ctx, strings.TrimSpace(to))
	switch {
	case err != nil:
		return "", err
	case recipient.Name == "":
		return "", fmt.Errorf("%q is neither a channel nor a person; write #channel or @person", to)
	case recipient.Direct:
		return "", fmt.Errorf("%s is a direct message; name the person instead, as @person", recipient.Name)
	case recipient.Person:
		return r.person(ctx, addresses, sender, recipient.Name)
	}
	return r.chat(ctx, addresses, sender, recipient.Name)
}

func (r *Resolver) chat(ctx context.Context, addresses Addresses, sender, name string) (string, error) {
	chat, err := addresses.FindChat(ctx, name)
	if err != nil {
		return "", err
	}
	unseen := fmt.Errorf("the bot is not in a channel named %s; a member can invite it", name)
	if chat == nil {
		return "", unseen
	}
	inside := false
	if sender != "" {
		if inside, err = addresses.IsMember(ctx, chat.ID, sender); err != nil {
			return "", err
		}
	}
	switch {
	case !inside && chat.Private:
		return "", unseen
	case !inside:
		return "", fmt.Errorf("the person asking is not in #%s, so nothing is sent there for them", chat.Name)
	case chat.Archived:
		return "", fmt.Errorf("#%s is archived", chat.Name)
	case !listed(r.access.Chats, bare(chat.ID)):
		return "", fmt.Errorf("the bot may not write in #%s: channels.%s.%s does not include %s", chat.Name, r.platform.Name(), wordsOf(r.platform).allow(), bare(chat.ID))
	}
	return chat.ID, nil
}

func (r *Resolver) person(ctx context.Context, addresses Addresses, sender, name string) (string, error) {
	found, err := addresses.FindPeople(ctx, name)
	switch {
	case err != nil:
		return "", err
	case len(found) == 0:
		return "", fmt.Errorf("no one is called %s", name)
	case len(found) > 1:
		var all []string
		for _, p := range found[:min(len(found), 5)] {
			all = append(all, fmt.Sprintf("%s (%s)", p.ID, p.Name))
		}
		return "", fmt.Errorf("several people are called %s; use an ID: %s", name, strings.Join(all, ", "))
	}
	id := found[0].ID
	included, err := r.access.includesPerson(ctx, r.platform, id)
	if err != nil {
		return "", err
	}
	if id != sender && !included {
		return "", fmt.Errorf("the bot may not write to %s: channels.%s.allow_users does not include %s", name, r.platform.Name(), id)
	}
	return addresses.OpenDirect(ctx, id)
}
