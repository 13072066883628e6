package slack_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
)

// People who are not members of the workspace, but write in its channels.
const (
	outsiderID = "U0OUT"
	guestID    = "U0GUEST"
	visitorID  = "U0VISITOR"
	groupID    = "S0OPS"
)

// shared receives in a workspace whose channels others write in, too.
func shared(t *testing.T, mode string, options slack.Options, more ...slacktest.Option) *receiving {
	t.Helper()
	r := receive(t, mode, receivingSetup{options: options, slack: more})
	r.AddUser(slacktest.User{ID: outsiderID, Name: "olga", RealName: "Olga Other", TZ: "Europe/Paris", Team: "T0OTHER"})
	r.AddUser(slacktest.User{ID: guestID, Name: "gus", RealName: "Gus Guest", TZ: "Europe/Paris", Guest: true})
	r.AddUser(slacktest.User{ID: visitorID, Name: "vi", RealName: "Vi Visitor", TZ: "Europe/Paris", Visitor: true})
	return r
}

func TestEveryoneIsTheWorkspacesMembers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		sender string
		listed []string
		want   bool
	}{
		{slacktest.Ana, []string{"*"}, true},
		{outsiderID, []string{"*"}, false},
		{guestID, []string{"*"}, false},
		{visitorID, []string{"*"}, false},
		{outsiderID, []string{"*", outsiderID}, true},
		{guestID, []string{guestID}, true},
		{guestID, []string{groupID}, true},
		{outsiderID, []string{"*", groupID}, true},
		{slacktest.Ben, []string{groupID}, false},
		{slacktest.Ben, []string{"S0UNKNOWN"}, false},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.sender, " of ", tt.listed), func(t *testing.T) {
			t.Parallel()
			eachMode(t, func(t *testing.T, mode string) {
				r := shared(t, mode, slack.Options{AllowUsers: tt.listed})
				r.SetGroup(groupID, guestID, outsiderID)
				root := r.acked(r.Say(slacktest.Ben, slacktest.General, "hi")).TS
				before := len(r.backend.Accepted())
				r.acked(r.Say(tt.sender, slacktest.General, slacktest.Mention+" hi"))
				r.acked(r.Shortcut(tt.sender, slacktest.General, root, "holdfast_stop"))
				command := r.acked(r.Slash(tt.sender, slacktest.General, "/holdfast", "stop"))
				if !tt.want {
					require.Len(t, r.backend.Accepted(), before)
					require.Contains(t, string(command.Events[0].Response()), "I don't know you yet")
					return
				}
				require.Len(t, r.backend.Accepted(), before+2)
				require.Equal(t, tt.sender, r.accepted(before+1).Sender)
				require.Equal(t, "/stop", r.accepted(before+2).Text)
				require.Contains(t, string(command.Events[0].Response()), "not working on anything that you asked for")
			})
		})
	}
}

func TestAnOutsiderIsLetInByPairing(t *testing.T) {
	t.Parallel()
	r := shared(t, slack.ModeSocket, slack.Options{AllowUsers: []string{"*"}})
	r.backend.Approve(slack.Name, outsiderID)
	root := r.acked(r.Say(outsiderID, slacktest.General, slacktest.Mention+" hi")).TS
	require.Equal(t, outsiderID, r.accepted(1).Sender)
	r.acked(r.Shortcut(outsiderID, slacktest.General, root, "holdfast_stop"))
	require.Equal(t, "/stop", r.accepted(2).Text)
}

// A member is looked up once; a message whose sender cannot be looked up now is delivered again.
func TestMembersAreLookedUpOnce(t *testing.T) {
	t.Parallel()
	r := shared(t, slack.ModeSocket, slack.Options{AllowUsers: []string{"*", groupID}},
		slacktest.AckTimeout(500*time.Millisecond), slacktest.RetryDelays(time.Millisecond, time.Millisecond))
	r.Fail("users.info", 1, slacktest.Fault{Error: "internal_error"})
	r.Fail("usergroups.users.list", 2, slacktest.Fault{Status: 503})
	for range 3 {
		r.acked(r.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" hi"))
	}
	require.Len(t, r.backend.Accepted(), 3)
	require.Len(t, r.Calls("users.info"), 2)
}

func TestNobodyIsAMemberIfSlackDoesNotSay(t *testing.T) {
	t.Parallel()
	r := shared(t, slack.ModeSocket, slack.Options{AllowUsers: []string{"*", groupID}}, slacktest.Scopes("chat:write"))
	r.SetGroup(groupID, slacktest.Ana)
	r.acked(r.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" hi"))
	require.Empty(t, r.backend.Accepted())
	require.True(t, r.log.has("an entry of channels.slack.allow_users is ignored"))
	require.True(t, r.log.has("usergroups:read"))
}

func TestAStreamIsForTheWorkspaceOfItsReader(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	s.AddUser(slacktest.User{ID: outsiderID, Name: "olga", RealName: "Olga Other", TZ: "Europe/Paris", Team: "T0OTHER"})
	a := s.accept(slacktest.General)
	a.msg.Sender = outsiderID
	s.channel.Present(s.turn(a))
	s.emit(a, text("Well"))
	s.drafted(a, anyMessage)
	require.Equal(t, "T0OTHER", s.Calls("chat.startStream")[0].Args["recipient_team_id"])
}

// A file of another workspace is delivered with nothing but its ID; its name is looked up.
func TestAFileOfAnotherWorkspaceKeepsItsName(t *testing.T) {
	t.Parallel()
	r := shared(t, slack.ModeSocket, slack.Options{FileLimit: 1 << 20})
	r.acked(r.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" look", slacktest.WithFiles(
		slacktest.File{Name: "plan.zip", Content: []byte("PK"), Connect: true},
	)))
	disk := kept{}
	got, err := r.channel.Enrich(r.ctx, channels.Enrichment{Message: r.accepted(1), Save: disk.save})
	require.NoError(t, err)
	require.Equal(t, kept{"plan.zip": "PK"}, disk)
	require.Equal(t, "plan.zip", got.Files[0].Name)
}
