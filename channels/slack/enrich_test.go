package slack_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// kept is what was saved, by name.
type kept map[string]string

func (k kept) save(name string, content io.Reader) (string, error) {
	data, err := io.ReadAll(content)
	if err != nil {
		return "", err
	}
	k[name] = string(data)
	return "/media/" + name, nil
}

// message is the message with this ts, as it is taken in.
func (s *sending) message(channel, ts string) domain.Inbound {
	m := s.Message(channel, ts)
	msg := domain.Inbound{
		Channel: slack.Name, Scope: slacktest.Team + "/" + channel, PlatformID: ts, Chat: slacktest.Team + "/" + channel,
		Thread: m.ThreadTS, Sender: m.User, Text: slack.Readable(m.Text, slacktest.BotUser), SentAt: slack.SentAt(ts), Push: true,
	}
	if msg.Thread == "" && channel != slacktest.DM {
		msg.Thread = ts
	}
	for _, f := range m.Files {
		msg.Files = append(msg.Files, domain.File{
			ID: f.ID, Name: f.Name, MIME: f.Mimetype, Size: int64(len(f.Content)),
			URL: fmt.Sprintf("%s/files-pri/%s-%s/%s", s.URL(), slacktest.Team, f.ID, f.Name),
		})
	}
	return msg
}

func (s *sending) enrich(e channels.Enrichment) channels.Enriched {
	s.t.Helper()
	got, err := s.channel.Enrich(s.ctx, e)
	require.NoError(s.t, err)
	return got
}

func TestEnrichNames(t *testing.T) {
	t.Parallel()
	s := sendingTo(t, slack.Options{})
	ts := s.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" ask <@U0BEN> and <@U0NOBODY> in <#C0GENERAL>, as <@U0BOT> said").TS
	msg := s.message(slacktest.General, ts)
	for range 3 {
		got := s.enrich(channels.Enrichment{Message: msg})
		require.Equal(t, channels.Enriched{
			Text: "ask @Ben Okafor and <@U0NOBODY> in #general, as @Holdfast said", SenderName: "ana", Zone: "Europe/Berlin",
		}, got)
	}
	require.Len(t, s.Calls("users.info"), 4, "they are remembered, also that there is no such one")
	require.Len(t, s.Calls("conversations.info"), 1)
	require.Empty(t, s.Calls("conversations.replies"), "the thread begins here")
}

func TestEnrichAsksOnceForManyAtOnce(t *testing.T) {
	t.Parallel()
	s := sendingTo(t, slack.Options{})
	msg := s.message(slacktest.General, s.asked())
	_, err := s.channel.Identify(s.ctx)
	require.NoError(t, err)
	s.Slow("users.info", 100*time.Millisecond)
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			got, err := s.channel.Enrich(s.ctx, channels.Enrichment{Message: msg})
			if err != nil || got.SenderName != "ana" {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
	all.Wait()
	require.Len(t, s.Calls("users.info"), 1)
}

func TestEnrichWhatWasSaidBefore(t *testing.T) {
	t.Parallel()

	// talk is a thread in which others talk before and between two questions.
	talk := func(t *testing.T, o slack.Options) (s *sending, first, second domain.Inbound) {
		t.Helper()
		s = sendingTo(t, o)
		s.AddUser(slacktest.User{ID: "U0ALERTS", Name: "alerts", Bot: true})
		root := s.Say(slacktest.Ben, slacktest.General, "It is <https://a.b|down> &amp; out").TS
		in := slacktest.InThread(root)
		s.Say(slacktest.Ana, slacktest.General, "since when, <@U0BEN>?", in, slacktest.WithFiles(slacktest.File{Name: "log.txt", Content: []byte("x")}))
		s.Say("U0ALERTS", slacktest.General, "CPU is high", in, slacktest.AsBot("B0ALERTS"))
		s.Say(slacktest.Ben, slacktest.General, "has joined", in, slacktest.WithSubtype("channel_join"))
		one := s.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" help", in).TS
		s.send(outgoing("o1", root, "on it"))
		s.Say(slacktest.Ben, slacktest.General, "It is back", in)
		two := s.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" why?", in).TS
		s.Say(slacktest.Ben, slacktest.General, "later", in)
		return s, s.message(slacktest.General, one), s.message(slacktest.General, two)
	}
	texts := func(got channels.Enriched) []string {
		var all []string
		for _, b := range got.Before {
			line := b.Name + ": " + b.Text
			if b.Stranger {
				line = "(stranger) " + line
			}
			all = append(all, strings.Join(append([]string{line}, b.Files...), " + "))
		}
		return all
	}

	t.Run("all, to the first message", func(t *testing.T) {
		t.Parallel()
		s, first, _ := talk(t, slack.Options{Respond: chat.RespondThread})
		got := s.enrich(channels.Enrichment{Message: first})
		require.Equal(t, "help", got.Text)
		require.Equal(t, []string{
			"(stranger) Ben Okafor: It is [down](https://a.b) & out", "(stranger) ana: since when, @Ben Okafor? + log.txt", "(stranger) alerts: CPU is high",
		}, texts(got))
		require.WithinDuration(t, time.Now(), got.Before[0].SentAt, time.Minute)
	})

	t.Run("messages not addressed to us, to a later one", func(t *testing.T) {
		t.Parallel()
		s, first, second := talk(t, slack.Options{Respond: chat.RespondMention, AllowUsers: []string{slacktest.Ben}})
		got := s.enrich(channels.Enrichment{Message: second, Since: slack.SentAt(first.PlatformID)})
		require.Equal(t, []string{"Ben Okafor: It is back"}, texts(got))
	})

	t.Run("nothing, if everything is consolidated", func(t *testing.T) {
		t.Parallel()
		s, first, second := talk(t, slack.Options{Respond: chat.RespondThread})
		require.Empty(t, s.enrich(channels.Enrichment{Message: second, Since: slack.SentAt(first.PlatformID)}).Before)
		require.Empty(t, s.Calls("conversations.replies"))
	})

	t.Run("nothing, without permission to read it", func(t *testing.T) {
		t.Parallel()
		s, first, _ := talk(t, slack.Options{})
		s.SetScopes("chat:write")
		got := s.enrich(channels.Enrichment{Message: first})
		require.Equal(t, "help", got.Text)
		require.Empty(t, got.Before)
		require.Equal(t, []string{
			"the names of people and channels: the app lacks the scope users:read",
			"what was said in this thread before: the app lacks the scope channels:history",
		}, got.Notes)
	})

	t.Run("a thread that we began", func(t *testing.T) {
		t.Parallel()
		s := sendingTo(t, slack.Options{})
		root := s.send(domain.Outbound{ID: "o1", Chat: generalChat, Text: "The nightly report: all is *well*"})
		ts := s.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" explain", slacktest.InThread(root)).TS
		got := s.enrich(channels.Enrichment{Message: s.message(slacktest.General, ts)})
		require.Equal(t, []string{"you: The nightly report: all is _well_"}, texts(got))
	})

	t.Run("no more than fifty, and not at any length", func(t *testing.T) {
		t.Parallel()
		s := sendingTo(t, slack.Options{}, slacktest.WithoutEcho())
		root := s.Say(slacktest.Ben, slacktest.General, "root").TS
		for i := range 260 {
			s.Say(slacktest.Ben, slacktest.General, fmt.Sprintf("message %d", i), slacktest.InThread(root))
		}
		s.Say(slacktest.Ben, slacktest.General, strings.Repeat("é", 5000), slacktest.InThread(root))
		ts := s.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" well?", slacktest.InThread(root)).TS
		got := s.enrich(channels.Enrichment{Message: s.message(slacktest.General, ts)})
		require.Len(t, got.Before, 50)
		require.Equal(t, "root", got.Before[0].Text)
		require.Equal(t, "message 212", got.Before[1].Text)
		require.Equal(t, strings.Repeat("é", 3999)+"…", got.Before[49].Text)
	})
}

func TestEnrichFiles(t *testing.T) {
	t.Parallel()
	s := sendingTo(t, slack.Options{FileLimit: 100})
	big := bytes.Repeat([]byte("x"), 101)
	ts := s.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" look", slacktest.WithFiles(
		slacktest.File{Name: "a.png", Mimetype: "image/png", Content: []byte("png")},
		slacktest.File{Name: "A.png", Mimetype: "image/png", Content: []byte("other")},
		slacktest.File{Name: "deploy.ts", Mimetype: "video/mp2t", Content: []byte("let x = 1")},
		slacktest.File{Name: "page.html", Mimetype: "text/html", Content: []byte("<html>")},
		slacktest.File{Name: "movie.mp4", Mimetype: "video/mp4", Content: []byte("mp4")},
		slacktest.File{Name: "big.txt", Mimetype: "text/plain", Content: big},
		slacktest.File{ID: "F0LIES", Name: "lies.txt", Mimetype: "text/plain", Content: big},
		slacktest.File{ID: "F0GONE", Name: "gone.txt", Mimetype: "text/plain", Content: []byte("x")},
		slacktest.File{ID: "F0INFO", Name: "info.txt", Mimetype: "text/plain", Content: []byte("described later"), Connect: true},
	)).TS
	s.RemoveFile("F0GONE")
	msg := s.message(slacktest.General, ts)
	msg.Files[6].Size = 1
	msg.Files[8] = domain.File{ID: "F0INFO", Name: "F0INFO"}
	msg.Files = append(msg.Files,
		domain.File{ID: "F0DRIVE", Name: "plan.txt", MIME: "text/plain", URL: "https://drive.example/plan.txt"},
		domain.File{ID: "F0NAME", Name: "../../etc/pass wd?.txt", MIME: "text/plain", URL: msg.Files[0].URL},
	)
	disk := kept{}
	got := s.enrich(channels.Enrichment{Message: msg, Save: disk.save})
	require.Equal(t, []domain.SavedFile{
		{Name: "a.png", MIME: "image/png", Path: "/media/a.png"},
		{Name: "A-2.png", MIME: "image/png", Path: "/media/A-2.png"},
		{Name: "deploy.ts", MIME: "video/mp2t", Path: "/media/deploy.ts"},
		{Name: "page.html", MIME: "text/html", Path: "/media/page.html"},
		{Name: "movie.mp4", MIME: "video/mp4", Path: "/media/movie.mp4"},
		{Name: "info.txt", MIME: "text/plain", Path: "/media/info.txt"},
		{Name: "pass_wd_.txt", MIME: "text/plain", Path: "/media/pass_wd_.txt"},
	}, got.Files)
	require.Equal(t, kept{
		"a.png": "png", "A-2.png": "other", "deploy.ts": "let x = 1", "page.html": "<html>", "movie.mp4": "mp4", "info.txt": "described later", "pass_wd_.txt": "png",
	}, disk)
	require.Equal(t, []string{
		"big.txt (101 bytes) is larger than 100 bytes",
		"lies.txt is larger than 100 bytes",
		"gone.txt was deleted",
		"plan.txt is not stored by Slack",
	}, got.Notes)
}

func TestEnrichFilesThatMayNotBeRead(t *testing.T) {
	t.Parallel()
	s := sendingTo(t, slack.Options{}, slacktest.Scopes("chat:write", "users:read"))
	ts := s.Say(slacktest.Ana, slacktest.DM, "look", slacktest.WithFiles(slacktest.File{ID: "F1", Name: "a.txt", Content: []byte("x")})).TS
	msg := s.message(slacktest.DM, ts)
	msg.Files = append(msg.Files, domain.File{ID: "F1", Name: "F1"})
	disk := kept{}
	got := s.enrich(channels.Enrichment{Message: msg, Save: disk.save})
	require.Empty(t, got.Files)
	require.Empty(t, disk)
	require.Equal(t, []string{
		"a.txt cannot be read: the app lacks the scope files:read",
		"F1: the app lacks the scope files:read",
	}, got.Notes)
}

func TestEnrichTakesNoMoreThanTwentyFiles(t *testing.T) {
	t.Parallel()
	s := sendingTo(t, slack.Options{})
	var files []slacktest.File
	for i := range 22 {
		files = append(files, slacktest.File{Name: fmt.Sprintf("%d.txt", i), Content: []byte("x")})
	}
	ts := s.Say(slacktest.Ana, slacktest.DM, "look", slacktest.WithFiles(files...)).TS
	got := s.enrich(channels.Enrichment{Message: s.message(slacktest.DM, ts), Save: kept{}.save})
	require.Len(t, got.Files, 20)
	require.Equal(t, []string{"2 more files ignored: the limit is 20"}, got.Notes)
}

func TestEnrichFails(t *testing.T) {
	t.Parallel()
	tests := []struct {
		method string
		fault  slacktest.Fault
	}{
		{"users.info", slacktest.Fault{Status: http.StatusTooManyRequests, RetryAfter: time.Second}},
		{"users.info", slacktest.Fault{Cut: true}},
		{"conversations.replies", slacktest.Fault{Status: http.StatusTooManyRequests, RetryAfter: time.Second}},
		{"conversations.replies", slacktest.Fault{Error: "internal_error"}},
		{"conversations.replies", slacktest.Fault{Status: http.StatusBadGateway}},
		{"download", slacktest.Fault{Status: http.StatusTooManyRequests, RetryAfter: time.Second}},
		{"download", slacktest.Fault{Status: http.StatusBadGateway}},
		{"download", slacktest.Fault{Cut: true}},
		{"auth.test", slacktest.Fault{Error: "invalid_auth"}},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s, %+v", tt.method, tt.fault), func(t *testing.T) {
			t.Parallel()
			s := sendingTo(t, slack.Options{})
			root := s.Say(slacktest.Ben, slacktest.General, "root").TS
			ts := s.Say(slacktest.Ana, slacktest.General, "look", slacktest.InThread(root), slacktest.WithFiles(slacktest.File{Name: "a.txt", Content: []byte("x")})).TS
			s.Fail(tt.method, slacktest.Always, tt.fault)
			_, err := s.channel.Enrich(s.ctx, channels.Enrichment{Message: s.message(slacktest.General, ts), Save: kept{}.save})
			s.transient(err)
		})
	}

	t.Run("the disk is full", func(t *testing.T) {
		t.Parallel()
		s := sendingTo(t, slack.Options{})
		ts := s.Say(slacktest.Ana, slacktest.DM, "look", slacktest.WithFiles(slacktest.File{Name: "a.txt", Content: []byte("x")})).TS
		full := errors.New("no space left")
		_, err := s.channel.Enrich(s.ctx, channels.Enrichment{
			Message: s.message(slacktest.DM, ts), Save: func(string, io.Reader) (string, error) { return "", full },
		})
		require.ErrorIs(t, err, full)
		require.Nil(t, remoteOf(err))
	})
}

func TestTheTokenIsSentOnlyToSlack(t *testing.T) {
	t.Parallel()
	s := sendingTo(t, slack.Options{})
	var seen []string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Authorization"))
	}))
	t.Cleanup(other.Close)
	msg := domain.Inbound{Chat: dmChat, Sender: slacktest.Ana, Text: "look"}
	for _, address := range []string{
		other.URL + "/a.txt", "http://files.slack.com/a.txt", "https://files.slack.com.evil.example/a.txt", "https://evilslack.com/a.txt", "file:///etc/passwd",
	} {
		msg.Files = append(msg.Files, domain.File{ID: "F1", Name: "a.txt", MIME: "text/plain", URL: address})
	}
	got := s.enrich(channels.Enrichment{Message: msg, Save: kept{}.save})
	require.Equal(t, []string{"a.txt is not stored by Slack"}, got.Notes)
	require.Empty(t, seen)
}
