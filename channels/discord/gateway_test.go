package discord_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/discord"
	"github.com/holdfast-ai/holdfast/channels/discord/discordtest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// numbered writes n messages in a channel and returns their texts.
func (b *bot) numbered(channel string, n int) (texts []string) {
	for i := range n {
		text := fmt.Sprintf("%s-%02d", channel[len(channel)-2:], i)
		b.Say(discordtest.Ana, channel, discordtest.Mention+" "+text)
		texts = append(texts, text)
	}
	return texts
}

// in returns the accepted messages of a channel or thread.
func (b *bot) in(channel string) []string {
	texts := []string{}
	for _, msg := range b.backend.Accepted() {
		if msg.Thread == channel || msg.Thread == "" && strings.HasSuffix(msg.Chat, "/"+channel) {
			texts = append(texts, msg.Text)
		}
	}
	return texts
}

func (b *bot) eventually(channel string, want []string) {
	b.t.Helper()
	require.Eventually(b.t, func() bool { return len(b.in(channel)) >= len(want) }, deadline, tick, "in %s: %v", channel, b.log)
	require.Equal(b.t, want, b.in(channel))
}

func TestTheSessionIsResumed(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*bot){
		"after a cut":             func(b *bot) { b.Cut() },
		"when Discord asks to":    func(b *bot) { b.Move() },
		"after an unknown error":  func(b *bot) { b.CloseWith(4000) },
		"after a burst of frames": func(b *bot) { b.CloseWith(4008) },
		"after an invalid frame":  func(b *bot) { b.RawFrame([]byte(`{"op":`)) },
		"when it may be":          func(b *bot) { b.RawFrame([]byte(`{"op":9,"d":true}`)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := receive(t, settings{})
			before := b.numbered(discordtest.General, 2)
			b.accepted(2)
			lose(b)
			missed := b.numbered(discordtest.Ops, 20)
			require.NoError(t, b.AwaitSessions(b.ctx, 1, 1))
			b.eventually(discordtest.Ops, missed)
			require.Equal(t, before, b.in(discordtest.General))
			identified, _ := b.Sessions()
			require.Equal(t, 1, identified)
		})
	}
	t.Run("after heartbeats were not answered", func(t *testing.T) {
		t.Parallel()
		b := receive(t, settings{}, discordtest.Heartbeat(20*time.Millisecond))
		b.Deaf(true)
		require.Eventually(t, func() bool { _, resumed := b.Sessions(); return resumed > 0 }, deadline, tick)
		b.Deaf(false)
		b.eventually(discordtest.General, b.numbered(discordtest.General, 3))
	})
}

func TestWhatWasMissedIsReadWhenTheSessionIsLost(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*bot){
		"it timed out":           func(b *bot) { b.CloseWith(4009) },
		"it is unknown":          func(b *bot) { b.ForgetSessions(); b.Cut() },
		"its events are unknown": func(b *bot) { b.CloseWith(4007) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := receive(t, settings{})
			direct := b.Direct(discordtest.Ana)
			b.Say(discordtest.Ana, direct, "hello")
			b.accepted(1)
			lose(b)
			general, ops, private := b.numbered(discordtest.General, 20), b.numbered(discordtest.Ops, 20), b.numbered(direct, 3)
			thread := b.OpenThread(discordtest.Ana, discordtest.General, "", "new")
			inThread := b.numbered(thread, 3)
			b.eventually(discordtest.General, general)
			b.eventually(discordtest.Ops, ops)
			b.eventually(thread, inThread)
			b.eventually(direct, append([]string{"hello"}, private...))
		})
	}
}

func TestNothingIsLostWhileWeAreDown(t *testing.T) {
	t.Parallel()
	b := receive(t, settings{})
	direct := b.Direct(discordtest.Ana)
	b.Say(discordtest.Ana, direct, "hello")
	old := b.OpenThread(discordtest.Ana, discordtest.Ops, "", "old")
	b.Say(discordtest.Ana, old, discordtest.Mention+" first")
	b.accepted(2)
	require.NoError(t, b.stop())
	require.NoError(t, b.AwaitGone(b.ctx))

	general, inOld, private := b.numbered(discordtest.General, 250), b.numbered(old, 50), b.numbered(direct, 5)
	thread := b.OpenThread(discordtest.Bob, discordtest.Forum, "", "new")
	inThread := b.numbered(thread, 3)
	b.open()
	b.run()
	b.eventually(discordtest.General, general)
	b.eventually(old, append([]string{"first"}, inOld...))
	b.eventually(thread, inThread)
	b.eventually(direct, append([]string{"hello"}, private...))
	live := b.numbered(discordtest.General, 1)
	b.eventually(discordtest.General, append(general, live...))
}

func TestThreadsThatWereArchivedMeanwhileAreRead(t *testing.T) {
	t.Parallel()
	b := newBot(t, settings{})
	away := time.Now().Add(-8 * 24 * time.Hour)
	require.NoError(t, b.backend.SetCursor(b.ctx, discord.Name, "position", strconv.FormatInt((away.UnixMilli()-1_420_070_400_000)<<22, 10)))
	thread := b.OpenThread(discordtest.Ana, discordtest.General, "", "short-lived")
	b.Say(discordtest.Ana, thread, discordtest.Mention+" a week ago", discordtest.At(time.Now().Add(-7*24*time.Hour)))
	b.Archive(thread)
	b.run()
	b.eventually(thread, []string{"a week ago"})
}

func TestTheFirstStartAnswersNothingOld(t *testing.T) {
	t.Parallel()
	b := newBot(t, settings{})
	b.Say(discordtest.Ana, discordtest.General, discordtest.Mention+" long ago", discordtest.At(time.Now().Add(-time.Hour)))
	b.run()
	require.NoError(t, b.AwaitSessions(b.ctx, 1, 0))
	b.settled()
	require.Empty(t, b.texts())
}

func TestThePositionWaitsForWhatIsNotAccepted(t *testing.T) {
	t.Parallel()
	b := receive(t, settings{})
	first := b.Say(discordtest.Ana, discordtest.General, discordtest.Mention+" one")
	b.accepted(1)
	require.Eventually(t, func() bool { return b.cursor("position") == first.ID }, deadline, tick)
	release := b.backend.BlockAccept()
	second := b.Say(discordtest.Ana, discordtest.Ops, discordtest.Mention+" two")
	require.NoError(t, b.backend.Await(b.ctx, func(c channeltest.Counts) bool { return c.Calls == 2 }))
	b.Say(discordtest.Bob, discordtest.General, "of no interest")
	stored := b.Direct(discordtest.Bob)
	b.Say(discordtest.Bob, stored, "hi")
	require.Eventually(t, func() bool { return strings.Contains(b.cursor("directs"), stored) }, deadline, tick)
	require.Less(t, b.cursor("position"), second.ID)
	release()
	b.accepted(2)
	require.Eventually(t, func() bool { return b.cursor("position") > second.ID }, deadline, tick)
}

func TestAMessageIsOfferedUntilItIsAccepted(t *testing.T) {
	t.Parallel()
	b := receive(t, settings{})
	b.backend.FailAccept(3)
	b.eventually(discordtest.General, b.numbered(discordtest.General, 5))
}

// dying is a backend whose process dies just before it accepts a message.
type dying struct {
	channels.Backend
	at   int
	dead context.CancelFunc
}

func (d *dying) Accept(ctx context.Context, msg domain.Inbound) (channels.Accepted, error) {
	if d.at--; d.at == 0 {
		d.dead()
		return channels.Accepted{}, channeltest.ErrAway
	}
	return d.Backend.Accept(ctx, msg)
}

// Cursor implements channels.Cursors.
func (d *dying) Cursor(ctx context.Context, channel, name string) (string, error) {
	return d.Backend.(channels.Cursors).Cursor(ctx, channel, name)
}

// SetCursor implements channels.Cursors.
func (d *dying) SetCursor(ctx context.Context, channel, name, cursor string) error {
	return d.Backend.(channels.Cursors).SetCursor(ctx, channel, name, cursor)
}

func TestACrashLosesNothing(t *testing.T) {
	t.Parallel()
	for at := 1; at <= 6; at++ {
		t.Run(fmt.Sprint("before message ", at), func(t *testing.T) {
			t.Parallel()
			b := newBot(t, settings{})
			ctx, cancel := context.WithCancel(b.ctx)
			ended := make(chan error, 1)
			go func() { ended <- b.channel.Run(ctx, &dying{b.backend, at, cancel}) }()
			require.NoError(t, b.AwaitSessions(b.ctx, 1, 0))
			want := b.numbered(discordtest.General, 6)
			require.NoError(t, <-ended)
			b.open()
			b.run()
			b.eventually(discordtest.General, want)
		})
	}
}

func TestWithoutTheContentIntent(t *testing.T) {
	t.Parallel()
	b := newBot(t, settings{Respond: chat.RespondAll}, discordtest.WithoutContent()).run()
	require.NoError(t, b.AwaitSessions(b.ctx, 2, 0))
	require.Contains(t, b.log.String(), "turn on Message Content Intent")
	require.Contains(t, b.log.String(), "discord.com/developers/applications")
	b.Say(discordtest.Ana, discordtest.General, "this cannot be read")
	b.Say(discordtest.Ana, discordtest.General, discordtest.Mention+" but this can")
	b.settled()
	require.Equal(t, []string{"but this can"}, b.texts())
}

func TestATokenThatIsNotValid(t *testing.T) {
	t.Parallel()
	b := newBot(t, settings{})
	b.options.Token = "secret-but-wrong"
	b.open()
	b.run()
	require.Eventually(t, func() bool { return strings.Contains(b.log.String(), "channels.discord.token is not valid") }, deadline, tick)
	require.NotContains(t, b.log.String(), "secret-but-wrong")
}

func TestSessionsAreNotBegunTooOften(t *testing.T) {
	t.Parallel()
	b := newBot(t, settings{}, discordtest.Identifies(0, time.Hour)).run()
	require.Eventually(t, func() bool { return strings.Contains(b.log.String(), "no sessions are left for today") }, deadline, tick)
	identified, _ := b.Sessions()
	require.Zero(t, identified)
}

func TestDiscordIsAwayForAWhile(t *testing.T) {
	t.Parallel()
	b := newBot(t, settings{})
	b.Down()
	b.run()
	require.Eventually(t, func() bool { return strings.Contains(b.log.String(), "will try again") }, deadline, tick)
	b.Up()
	require.NoError(t, b.AwaitSessions(b.ctx, 1, 0))
	b.Down()
	missed := b.numbered(discordtest.General, 50)
	b.Up()
	b.eventually(discordtest.General, missed)
}

func TestAHistoryThatMayNotBeRead(t *testing.T) {
	t.Parallel()
	b := newBot(t, settings{})
	b.Refuse(discordtest.General, "read", 50001)
	b.Say(discordtest.Ana, discordtest.General, discordtest.Mention+" before")
	b.run()
	require.NoError(t, b.AwaitSessions(b.ctx, 1, 0))
	require.Eventually(t, func() bool { return strings.Contains(b.log.String(), "may not read the history") }, deadline, tick)
	b.eventually(discordtest.General, b.numbered(discordtest.General, 2))
}

func TestCommandsAreRegisteredOnce(t *testing.T) {
	t.Parallel()
	b := receive(t, settings{})
	var want []string
	for _, c := range domain.Commands() {
		want = append(want, string(c.Name))
	}
	require.Eventually(t, func() bool { return slices.Equal(want, b.Commands()) }, deadline, tick)
	require.NoError(t, b.stop())
	before := len(b.Calls("POST", "/commands"))
	b.open()
	b.run()
	require.Eventually(t, func() bool { return len(b.Calls("GET", "/commands")) == 2 }, deadline, tick)
	b.settled()
	require.Len(t, b.Calls("POST", "/commands"), before)
}

func TestADirectChatIsKnownBeforeItsFirstMessageIsAccepted(t *testing.T) {
	t.Parallel()
	b := newBot(t, settings{})
	b.channel.SaveSeldom()
	b.run()
	require.NoError(t, b.AwaitSessions(b.ctx, 1, 0))
	direct := b.Direct(discordtest.Ana)
	b.Say(discordtest.Ana, direct, "hello")
	b.accepted(1)
	require.Equal(t, direct, b.cursor("directs"))
}
