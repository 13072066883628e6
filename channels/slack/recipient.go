package slack

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/slack-go/slack"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

const (
	listPage = 500 // entries of a page; Slack takes fewer than 1,000
	maxPages = 20
)

var (
	// channelID and personID match Slack's IDs; names have no capitals.
	channelID = regexp.MustCompile(`^[CG][A-Z]*[0-9][A-Z0-9]*$`)
	personID  = regexp.MustCompile(`^[UW][A-Z]*[0-9][A-Z0-9]*$`)
	// pointed is a channel or a person as a text refers to them.
	pointed = regexp.MustCompile(`^<([@#][A-Z0-9]+)(?:\|[^<>]*)?>$`)
)

// Recipient implements [chat.Addresses].
func (p *platform) Recipient(ctx context.Context, to string) (chat.Recipient, error) {
	self, err := p.self(ctx)
	if err != nil {
		return chat.Recipient{}, err
	}
	to = strings.TrimPrefix(to, chatOf(self.TeamID, ""))
	if found := pointed.FindStringSubmatch(to); found != nil {
		to = found[1]
	}
	name := strings.TrimLeft(to, "@#")
	return chat.Recipient{
		Name:   name,
		Direct: isDirect(name) && channelID.MatchString("C"+name[1:]),
		Person: personID.MatchString(name) || strings.HasPrefix(to, "@"),
	}, nil
}

// FindChat implements [chat.Addresses].
func (p *platform) FindChat(ctx context.Context, name string) (*chat.Chat, error) {
	self, err := p.self(ctx)
	if err != nil {
		return nil, err
	}
	channel, err := p.channelCalled(ctx, name)
	if err != nil || channel == nil {
		return nil, err
	}
	p.people.Put(channel.ID, chat.Profile{Name: channel.Name})
	return &chat.Chat{ID: chatOf(self.TeamID, channel.ID), Name: channel.Name, Private: channel.IsPrivate, Archived: channel.IsArchived}, nil
}

// channelCalled returns the channel with this ID or name that we are in; nil if there is
// none.
func (p *platform) channelCalled(ctx context.Context, name string) (*slack.Channel, error) {
	id := name
	if !channelID.MatchString(name) {
		id = p.people.Named(name, false)
	}
	if id != "" {
		channel, err := p.conversation(ctx, id)
		switch {
		case invisible[code(err)]:
		case err != nil:
			return nil, err
		case channel.IsMember && !channel.IsIM && (id == name || strings.EqualFold(channel.Name, name)):
			return channel, nil
		}
	}
	if id == name {
		return nil, nil
	}
	return p.joinedChannel(ctx, name)
}

// joinedChannel looks for a name among the channels that we are in.
func (p *platform) joinedChannel(ctx context.Context, name string) (found *slack.Channel, err error) {
	asked := slack.GetConversationsForUserParameters{Types: []string{"public_channel", "private_channel"}, Limit: listPage, ExcludeArchived: true}
	err = p.pages(ctx, "users.conversations", "the bot is in too many channels to look for "+name+"; give its ID", func(ctx context.Context) (bool, error) {
		page, next, err := p.api.GetConversationsForUserContext(ctx, &asked)
		asked.Cursor = next
		if i := slices.IndexFunc(page, func(ch slack.Channel) bool { return strings.EqualFold(ch.Name, name) }); i >= 0 {
			found = &page[i]
		}
		return found != nil || next == "", err
	})
	return found, err
}

// IsMember implements [chat.Addresses].
func (p *platform) IsMember(ctx context.Context, chat, person string) (inside bool, err error) {
	asked := slack.GetUsersInConversationParameters{ChannelID: channelOf(chat), Limit: listPage}
	err = p.pages(ctx, "conversations.members", "the channel has too many members to look up the person asking", func(ctx context.Context) (bool, error) {
		page, next, err := p.api.GetUsersInConversationContext(ctx, &asked)
		asked.Cursor = next
		inside = slices.Contains(page, person)
		return inside || next == "", err
	})
	return inside, err
}

// pages makes calls of a method until one says that it was the last. The error of too
// many is tooMany.
func (p *platform) pages(ctx context.Context, method, tooMany string, call func(context.Context) (last bool, err error)) error {
	for range maxPages {
		last, err := ask(ctx, p, method, call)
		if err != nil || last {
			return err
		}
	}
	return errors.New(tooMany)
}

// FindPeople implements [chat.Addresses]. A known person takes precedence over
// others of the same name.
func (p *platform) FindPeople(ctx context.Context, name string) (found []chat.Person, err error) {
	if personID.MatchString(name) {
		return []chat.Person{{ID: name}}, nil
	}
	if id := p.people.Named(name, true); id != "" {
		return []chat.Person{{ID: id, Name: name}}, nil
	}
	list := p.api.GetUsersPaginated(slack.GetUsersOptionLimit(listPage))
	err = p.pages(ctx, "users.list", "there are too many people to look up "+name+"; use their ID", func(ctx context.Context) (bool, error) {
		next, err := list.Next(ctx)
		if err != nil {
			return false, err
		}
		list = next
		for _, u := range list.Users {
			if writable(&u) && isCalled(&u, name) {
				found = append(found, chat.Person{ID: u.ID, Name: nameOf(&u)})
			}
		}
		return list.Cursor == "", nil
	})
	return found, err
}

// isCalled reports whether a name is one of a user's, whatever the case.
func isCalled(user *slack.User, name string) bool {
	return slices.ContainsFunc([]string{user.Profile.DisplayName, user.RealName, user.Profile.RealName, user.Name}, func(own string) bool {
		return strings.EqualFold(own, name)
	})
}

// writable reports whether a user is a person who can be written to.
func writable(user *slack.User) bool {
	return !user.Deleted && !user.IsBot && !user.IsWorkflowBot && !user.IsConnectorBot && user.ID != slackbot
}

// OpenDirect implements [chat.Addresses].
func (p *platform) OpenDirect(ctx context.Context, person string) (string, error) {
	user, err := p.user(ctx, person)
	switch {
	case invisible[code(err)]:
		return "", fmt.Errorf("no one has the ID %s", person)
	case err != nil:
		return "", err
	case !writable(user):
		return "", fmt.Errorf("%s is a bot or deactivated; the bot writes to people only", nameOf(user))
	}
	self, err := p.self(ctx)
	if err != nil {
		return "", err
	}
	p.people.Put(person, profileOf(user))
	direct, err := ask(ctx, p, "conversations.open", func(ctx context.Context) (*slack.Channel, error) {
		direct, _, _, err := p.api.OpenConversationContext(ctx, &slack.OpenConversationParameters{Users: []string{person}})
		return direct, err
	})
	if err != nil {
		return "", err
	}
	return chatOf(self.TeamID, direct.ID), nil
}
