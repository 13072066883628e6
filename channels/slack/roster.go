package slack

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// groupLasts is how long the members of a user group are remembered.
const groupLasts = 10 * time.Minute

// isUserGroup reports whether Slack's ID is that of a user group.
func isUserGroup(id string) bool { return strings.HasPrefix(id, "S") }

// Includes implements [chat.Roster]: [channels.Anyone] means the workspace's members without
// its guests. While Slack refuses to say who belongs where, nobody does.
func (p *platform) Includes(ctx context.Context, entry, person string) (included bool, err error) {
	switch {
	case entry == channels.Anyone:
		var known account
		known, err = p.accounts.Get(ctx, person)
		included = known.member
	case isUserGroup(entry):
		var members []string
		members, err = p.groups.Get(ctx, entry)
		included = slices.Contains(members, person)
	}
	if failed := remote.As(err); failed != nil && (failed.Permanent() || misconfigured[code(err)] != "") {
		p.log.Warn("an entry of channels.slack.allow_users is ignored", "entry", entry, "user_id", person, "err", err)
		return false, nil
	}
	return included, err
}

// groupMembers asks Slack who is in a user group.
func (p *platform) groupMembers(ctx context.Context, group string) ([]string, error) {
	return ask(ctx, p, "usergroups.users.list", func(ctx context.Context) ([]string, error) {
		return p.api.GetUserGroupMembersContext(ctx, group)
	})
}
