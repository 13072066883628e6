package command

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/telegram/telegramtest"
)

// telegramEnviron is the environment of processes that are connected to a Telegram of tests.
func telegramEnviron(server *telegramtest.Server) []string {
	return []string{
		"HOLDFAST_CHANNELS_TELEGRAM_ENABLED=true", "TELEGRAM_BOT_TOKEN=" + telegramtest.Token, "HOLDFAST_CHANNELS_TELEGRAM_API_URL=" + server.URL(),
		"HOLDFAST_CHANNELS_TELEGRAM_ALLOW_USERS=*", "HOLDFAST_CHANNELS_TELEGRAM_ALLOW_GROUPS=*", "HOLDFAST_AGENT_MID_TURN=queue",
	}
}

// answersIn are the answers in a chat, in order, without placeholders.
func answersIn(server *telegramtest.Server, chat int64) (answers []string) {
	for _, m := range server.Posted(chat) {
		if strings.HasPrefix(m.Text, "heard: ") && m.Buttons() == nil {
			answers = append(answers, strings.TrimPrefix(m.Text, "heard: "))
		}
	}
	return answers
}

// TestTelegramRestart has fifty messages written while nothing runs for a minute of
// Telegram's clock. The process that then comes is killed twice while it answers them.
func TestTelegramRestart(t *testing.T) {
	t.Parallel()
	server := telegramtest.Start(t)
	h := newHome(t, heard(t).URL)
	h.environ = append(h.environ, telegramEnviron(server)...)
	first := h.start(t)
	server.Say(telegramtest.Ana, telegramtest.Ana, "first")
	count := func(n int) func() bool {
		return func() bool {
			return len(answersIn(server, telegramtest.Ana))+len(answersIn(server, telegramtest.Ben)) >= n
		}
	}
	require.Eventually(t, count(1), patience, 10*time.Millisecond)
	first.kill()
	want := []string{"first"}
	for i := range 25 {
		for _, person := range []int64{telegramtest.Ana, telegramtest.Ben} {
			server.Say(person, person, fmt.Sprintf("m%02d", i))
		}
		want = append(want, fmt.Sprintf("m%02d", i))
	}
	server.Advance(time.Minute)
	for _, n := range []int{10, 30} {
		p := h.start(t)
		require.Eventually(t, count(n), patience, time.Millisecond)
		p.kill()
	}
	h.start(t)
	require.Eventually(t, count(51), patience, 10*time.Millisecond)
	require.Equal(t, want, answersIn(server, telegramtest.Ana))
	require.Equal(t, want[1:], answersIn(server, telegramtest.Ben))
	for _, m := range append(server.Posted(telegramtest.Ana), server.Posted(telegramtest.Ben)...) {
		require.Contains(t, []string{"…", "heard: "}, m.Text[:min(len(m.Text), len("heard: "))])
	}
}
