package slack

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/slack-go/slack"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
)

// How far Slack is asked for members, people and channels.
const (
	reachPage  = 500 // in a call; Slack takes less than 1,000
	reachPages = 20  // calls
)

var (
	// channelID and personID match what Slack calls somebody; names have no capitals.
	channelID = regexp.MustCompile(`^[CG][A-Z]*[0-9][A-Z0-9]*$`)
	personID  = regexp.MustCompile(`^[UW][A-Z]*[0-9][A-Z0-9]*$`)
	// pointed is a channel or a person as they are referred to in a text.
	pointed = regexp.MustCompile(`^<([@#][A-Z0-9]+)(?:\|[^<>]*)?>$`)
)

// Reach implements [channels.Reacher]. A channel may be written to if it is allowed,
// we are in it and so is the sender; a person in a direct message if they are on the
// list of users, or are the sender. Who was let in by pairing is on no list. What
// the sender cannot see is not told from what is not there.
func (c *Channel) Reach(ctx context.Context, sender, to string) (chat string, err error) {
	self, err := c.Identify(ctx)
	if err != nil {
		return "", err
	}
	to = strings.TrimPrefix(strings.TrimSpace(to), chatOf(self.TeamID, ""))
	if found := pointed.FindStringSubmatch(to); found != nil {
		to = found[1]
	}
	name := strings.TrimLeft(to, "@#")
	var id string
	switch {
	case name == "":
		return "", fmt.Errorf("%q names no channel and no person; write #channel or @person", to)
	case isDirect(name) && channelID.MatchString("C"+name[1:]):
		return "", fmt.Errorf("%s is a direct message; name the person instead, as @person", to)
	case personID.MatchString(name), strings.HasPrefix(to, "@"):
		id, err = c.reachPerson(ctx, sender, name)
	default:
		id, err = c.reachChannel(ctx, sender, name)
	}
	if err != nil {
		return "", err
	}
	return chatOf(self.TeamID, id), nil
}

// reachChannel returns the ID of a channel, by that or its name, that the sender may
// write to.
func (c *Channel) reachChannel(ctx context.Context, sender, name string) (string, error) {
	channel, err := c.channelCalled(ctx, name)
	if err != nil {
		return "", err
	}
	unseen := fmt.Errorf("there is no channel %s that the bot is in; somebody who is in it can invite the bot", name)
	if channel == nil {
		return "", unseen
	}
	inside, err := c.isMember(ctx, channel.ID, sender)
	switch {
	case err != nil:
		return "", err
	case !inside && channel.IsPrivate:
		return "", unseen
	case !inside:
		return "", fmt.Errorf("whoever asks is not in #%s, so nothing is sent there in their name", channel.Name)
	case channel.IsArchived:
		return "", fmt.Errorf("#%s is archived", channel.Name)
	case !listed(c.o.AllowChannels, channel.ID):
		return "", fmt.Errorf("the bot may not write in #%s: channels.slack.allow_channels does not have %s", channel.Name, channel.ID)
	}
	c.people.Put(channel.ID, chat.Profile{Name: channel.Name})
	return channel.ID, nil
}

// channelCalled returns the channel with this ID or name that we are in; nil if
// there is none.
func (c *Channel) channelCalled(ctx context.Context, name string) (*slack.Channel, error) {
	id := name
	if !channelID.MatchString(name) {
		id = c.people.Named(name, false)
	}
	if id != "" {
		channel, err := c.conversation(ctx, id)
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
	return c.joinedChannel(ctx, name)
}

// joinedChannel looks for a name among the channels that we are in.
func (c *Channel) joinedChannel(ctx context.Context, name string) (found *slack.Channel, err error) {
	asked := slack.GetConversationsForUserParameters{Types: []string{"public_channel", "private_channel"}, Limit: reachPage, ExcludeArchived: true}
	err = c.pages(ctx, "users.conversations", "the bot is in too many channels to look for "+name+"; give its ID", func(ctx context.Context) (bool, error) {
		page, next, err := c.api.GetConversationsForUserContext(ctx, &asked)
		asked.Cursor = next
		if i := slices.IndexFunc(page, func(ch slack.Channel) bool { return strings.EqualFold(ch.Name, name) }); i >= 0 {
			found = &page[i]
		}
		return found != nil || next == "", err
	})
	return found, err
}

// isMember reports whether somebody is in a channel.
func (c *Channel) isMember(ctx context.Context, channel, user string) (inside bool, err error) {
	if user == "" {
		return false, nil
	}
	asked := slack.GetUsersInConversationParameters{ChannelID: channel, Limit: reachPage}
	err = c.pages(ctx, "conversations.members", "the channel has too many members to look for whoever asks", func(ctx context.Context) (bool, error) {
		page, next, err := c.api.GetUsersInConversationContext(ctx, &asked)
		asked.Cursor = next
		inside = slices.Contains(page, user)
		return inside || next == "", err
	})
	return inside, err
}

// pages makes calls of a method until one says that it was the last. Too many is the
// error of calls that come to no end.
func (c *Channel) pages(ctx context.Context, method, tooMany string, call func(context.Context) (last bool, err error)) error {
	for range reachPages {
		var last bool
		err := c.call(ctx, method, "", func(ctx context.Context) (err error) {
			last, err = call(ctx)
			return err
		})
		if err != nil || last {
			return err
		}
	}
	return errors.New(tooMany)
}

// reachPerson returns the ID of the direct message with a person, by their ID or
// name.
func (c *Channel) reachPerson(ctx context.Context, sender, name string) (string, error) {
	id, err := c.personCalled(ctx, name)
	if err != nil {
		return "", err
	}
	if id != sender && !listed(c.o.AllowUsers, id) {
		return "", fmt.Errorf("the bot may not write to %s: channels.slack.allow_users does not have %s", name, id)
	}
	user, err := c.user(ctx, id)
	switch {
	case invisible[code(err)]:
		return "", fmt.Errorf("there is nobody with the ID %s", id)
	case err != nil:
		return "", err
	case !writable(user):
		return "", fmt.Errorf("%s is a bot or deactivated; the bot writes to people only", nameOf(user))
	}
	c.people.Put(id, profileOf(user))
	var direct *slack.Channel
	err = c.call(ctx, "conversations.open", "", func(ctx context.Context) (err error) {
		direct, _, _, err = c.api.OpenConversationContext(ctx, &slack.OpenConversationParameters{Users: []string{id}})
		return err
	})
	if err != nil {
		return "", err
	}
	return direct.ID, nil
}

// writable reports whether there is a person to read what is written to a user.
func writable(user *slack.User) bool {
	return !user.Deleted && !user.IsBot && !user.IsWorkflowBot && !user.IsConnectorBot && user.ID != slackbot
}

// personCalled returns the ID of the person with this ID or name. One of that name
// whom we have met goes before others.
func (c *Channel) personCalled(ctx context.Context, name string) (string, error) {
	if personID.MatchString(name) {
		return name, nil
	}
	if id := c.people.Named(name, true); id != "" {
		return id, nil
	}
	var found []string
	list := c.api.GetUsersPaginated(slack.GetUsersOptionLimit(reachPage))
	err := c.pages(ctx, "users.list", "there are too many people to look for "+name+"; give their ID", func(ctx context.Context) (bool, error) {
		next, err := list.Next(ctx)
		if err != nil {
			return false, err
		}
		list = next
		for _, u := range list.Users {
			if writable(&u) && isCalled(&u, name) {
				found = append(found, fmt.Sprintf("%s (%s)", u.ID, nameOf(&u)))
			}
		}
		return list.Cursor == "", nil
	})
	switch {
	case err != nil:
		return "", err
	case len(found) == 0:
		return "", fmt.Errorf("there is nobody called %s", name)
	case len(found) > 1:
		return "", fmt.Errorf("more than one is called %s; give an ID: %s", name, strings.Join(found[:min(len(found), 5)], ", "))
	}
	id, _, _ := strings.Cut(found[0], " ")
	return id, nil
}

// isCalled reports whether a user is called that, whatever the case.
func isCalled(user *slack.User, name string) bool {
	return slices.ContainsFunc([]string{user.Profile.DisplayName, user.RealName, user.Profile.RealName, user.Name}, func(own string) bool {
		return strings.EqualFold(own, name)
	})
}

func listed(list []string, id string) bool {
	return slices.Contains(list, channels.Anyone) || slices.Contains(list, id)
}
