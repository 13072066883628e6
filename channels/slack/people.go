package slack

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// isUser reports whether Slack's ID is that of a user.
func isUser(id string) bool { return strings.HasPrefix(id, "U") || strings.HasPrefix(id, "W") }

// look asks Slack who is behind the ID of a user or a channel.
func (p *platform) look(ctx context.Context, id string) (who chat.Profile, err error) {
	if isUser(id) {
		var known account
		if known, err = p.accounts.Get(ctx, id); err == nil {
			who = known.profile
		}
	} else {
		var channel *slack.Channel
		if channel, err = p.conversation(ctx, id); err == nil {
			who = chat.Profile{Name: channel.Name}
		}
	}
	if invisible[code(err)] {
		return chat.Profile{}, nil
	}
	return who, err
}

// invisible are Slack's errors for an ID about which it tells us nothing.
var invisible = map[string]bool{"user_not_found": true, "users_not_found": true, "user_not_visible": true, "channel_not_found": true}

// account is what the lists of users depend on.
type account struct {
	profile chat.Profile
	team    string // the workspace that the person belongs to
	member  bool   // of ours, and not a guest
}

// accountLasts is how long the state of an account is remembered: for so long a member who
// became a guest is still answered.
const accountLasts = time.Hour

// account asks Slack about a user. Somebody of whom it says nothing is not a member.
func (p *platform) account(ctx context.Context, id string) (account, error) {
	user, err := p.user(ctx, id)
	if invisible[code(err)] {
		return account{}, nil
	}
	if err != nil {
		return account{}, err
	}
	self, err := p.self(ctx)
	if err != nil {
		return account{}, err
	}
	ours := cmp.Or(user.TeamID, self.TeamID) == self.TeamID || slices.Contains(user.Enterprise.Teams, self.TeamID)
	return account{
		profile: profileOf(user), team: user.TeamID,
		member: ours && !user.Deleted && !user.IsRestricted && !user.IsUltraRestricted && !user.IsStranger,
	}, nil
}

func (p *platform) user(ctx context.Context, id string) (*slack.User, error) {
	return ask(ctx, p, "users.info", func(ctx context.Context) (*slack.User, error) { return p.api.GetUserInfoContext(ctx, id) })
}

func profileOf(user *slack.User) chat.Profile {
	return chat.Profile{Name: nameOf(user), Zone: user.TZ, Person: true}
}

// nameOf is the name under which people see a user.
func nameOf(user *slack.User) string {
	return cmp.Or(user.Profile.DisplayName, user.RealName, user.Profile.RealName, user.Name)
}

func (p *platform) conversation(ctx context.Context, id string) (*slack.Channel, error) {
	return ask(ctx, p, "conversations.info", func(ctx context.Context) (*slack.Channel, error) {
		return p.api.GetConversationInfoContext(ctx, &slack.GetConversationInfoInput{ChannelID: id})
	})
}
