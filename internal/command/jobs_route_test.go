package command

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/tool/schedule"
)

func TestJobsRoute(t *testing.T) {
	t.Parallel()
	server := slacktest.Start(t)
	cfg := config.Default(t.TempDir())
	cfg.Channels.Slack = slackConfig(server, slack.ModeSocket)
	add := func(cfg config.Config, channel, chat, thread string) (domain.Job, error) {
		flags := jobFlags{request: schedule.Request{Message: "m", Every: time.Hour}, channel: channel, chat: chat, thread: thread}
		return flags.job(t.Context(), cfg)
	}

	for name, c := range map[string]struct {
		channel, chat, thread string
		session               string
		want                  domain.Route
	}{
		"nowhere":                  {session: "cli", want: domain.Route{Channel: "job"}},
		"a thread":                 {"slack", "C0GENERAL", "1712345678.123456", "slack:T0TEAM/C0GENERAL:1712345678.123456", domain.Route{Channel: "slack", Chat: "T0TEAM/C0GENERAL", Thread: "1712345678.123456", Push: true}},
		"a direct message":         {"slack", "D0ANA", "", "slack:T0TEAM/D0ANA", domain.Route{Channel: "slack", Chat: "T0TEAM/D0ANA", Push: true}},
		"with the workspace named": {"slack", "E9/G1", "", "slack:E9/G1", domain.Route{Channel: "slack", Chat: "E9/G1", Push: true}},
	} {
		job, err := add(cfg, c.channel, c.chat, c.thread)
		require.NoError(t, err, name)
		c.want.Sender = "operator"
		require.Equal(t, c.want, job.Route, name)
		require.Equal(t, c.session, job.Session, name)
	}

	off := cfg
	off.Channels.Slack.Enabled = false
	_, err := add(off, "slack", "C1", "")
	require.ErrorContains(t, err, "it is disabled (channels.slack.enabled)")
	away := cfg
	away.Channels.Slack.APIURL = "http://" + freeAddress(t) + "/api/"
	_, err = add(away, "slack", "C1", "")
	require.ErrorContains(t, err, "look up the workspace of C1 (or give it, as in T012ABC/C1)")
	_, err = add(away, "slack", "T1/C1", "")
	require.NoError(t, err)

	for name, c := range map[string]struct{ channel, chat, thread, want string }{
		"no channel":        {"", "C1", "", "--chat and --thread need --channel"},
		"a thread alone":    {"", "", "1.2", "--chat and --thread need --channel"},
		"a pull channel":    {"http", "main", "", "clients fetch their replies"},
		"an unknown one":    {"telegram", "1", "", `cannot send to "telegram"`},
		"no chat":           {"slack", "", "1.2", "--chat is missing"},
		"a name":            {"slack", "#ops", "", `--chat is "#ops": must be the Slack ID of a channel or direct message, such as C012ABC`},
		"a name without #":  {"slack", "general", "", "not a user ID or a name"},
		"a person":          {"slack", "U0ANA", "", `--chat is "U0ANA"`},
		"a session":         {"slack", "slack:T1/C1", "", "--chat is"},
		"no ID of a thread": {"slack", "C1", "p1712345678123456", "such as 1712345678.123456 (its link in Slack ends with p1712345678123456)"},
	} {
		_, err := add(cfg, c.channel, c.chat, c.thread)
		require.ErrorContains(t, err, c.want, name)
	}
}
