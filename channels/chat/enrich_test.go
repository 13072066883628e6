package chat_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// knowing is a platform that can be asked about everything.
type knowing struct {
	*plain
	posted  []chat.Posted
	asked   []chat.Query
	lacking error // of all that is asked
}

func (k *knowing) Who(_ context.Context, id string) (chat.Profile, error) {
	names := map[string]string{"u1": "Ana", "u2": "Ben"}
	return chat.Profile{Name: names[id], Zone: "Europe/Berlin", Person: true}, k.lacking
}

func (k *knowing) WithNames(_ context.Context, text string) (string, error) {
	return strings.ReplaceAll(text, "<u2>", "@Ben"), k.lacking
}

func (k *knowing) IsDirect(c string) bool { return c == "dm" }

func (k *knowing) History(_ context.Context, _ chat.Place, q chat.Query) ([]chat.Posted, error) {
	k.asked = append(k.asked, q)
	return k.posted, k.lacking
}

func (k *knowing) Describe(_ context.Context, f domain.File) (domain.File, error) {
	if f.MIME == "" {
		f.MIME = "text/plain"
	}
	return f, nil
}

func (k *knowing) Fetch(_ context.Context, f domain.File) (io.ReadCloser, error) {
	if f.ID == "gone" {
		return nil, chat.Unreadable("was deleted")
	}
	return io.NopCloser(strings.NewReader("content of " + f.ID)), nil
}

func enrich(t *testing.T, p chat.Platform, respond string, msg domain.Inbound, since time.Time) (channels.Enriched, error) {
	t.Helper()
	return chat.NewEnricher(p, chat.EnricherOptions{
		Access: chat.Access{Users: []string{"u1"}, Bots: []string{"deploys"}}, FileLimit: 20, Respond: respond,
	}).Enrich(t.Context(), channels.Enrichment{
		Message: msg, Since: since,
		Paired: func(_ context.Context, sender string) (bool, error) { return sender == "u3", nil },
		Save: func(name string, content io.Reader) (string, error) {
			_, err := io.ReadAll(content)
			return "/media/" + name, err
		},
	})
}

func TestEnrich(t *testing.T) {
	t.Parallel()
	at := func(minute int) time.Time { return time.Date(2026, 3, 1, 10, minute, 0, 0, time.UTC) }
	posted := []chat.Posted{
		{ID: "t1", Sender: "bot", Ours: true, Text: "The nightly report", SentAt: at(1)},
		{ID: "m2", Sender: "u2", Text: "is <u2> there?", SentAt: at(2), Files: []domain.File{{Name: "a.txt"}}},
		{ID: "m3", Sender: "bot", Ours: true, Text: "yes", SentAt: at(3)},
		{ID: "m4", Sender: "u9", Bot: true, Name: "alerts", Text: "CPU is high", SentAt: at(4)},
		{ID: "d", Sender: "deploys", Bot: true, Name: "deploys", Text: "done", SentAt: at(4)},
		{ID: "a", Sender: "u1", Text: "so?", SentAt: at(4)},
		{ID: "b", Sender: "u3", Text: "well?", SentAt: at(4)},
		{ID: "m5", Sender: "u1", Text: "so?", SentAt: at(5)},
		{ID: "m6", Sender: "u1", Text: "later", SentAt: at(6)},
	}
	msg := domain.Inbound{PlatformID: "m5", Chat: "ops", Thread: "t1", Sender: "u1", Text: "so, <u2>?", SentAt: at(5)}
	texts := func(e channels.Enriched) (all []string) {
		for _, b := range e.Before {
			line := b.Name + ": " + b.Text
			if b.Stranger {
				line = "(stranger) " + line
			}
			all = append(all, strings.Join(append([]string{line}, b.Files...), " + "))
		}
		return all
	}

	t.Run("the first message of a session", func(t *testing.T) {
		t.Parallel()
		k := &knowing{plain: newPlain(), posted: posted}
		got, err := enrich(t, k, chat.RespondThread, msg, time.Time{})
		require.NoError(t, err)
		require.Equal(t, "so, @Ben?", got.Text)
		require.Equal(t, "Ana", got.SenderName)
		require.Equal(t, "Europe/Berlin", got.Zone)
		require.Equal(t, []string{
			"you: The nightly report", "(stranger) Ben: is @Ben there? + a.txt", "(stranger) alerts: CPU is high",
			"deploys: done", "Ana: so?", "u3: well?",
		}, texts(got))
	})

	t.Run("a later one, where only mentions are answered", func(t *testing.T) {
		t.Parallel()
		k := &knowing{plain: newPlain(), posted: posted}
		got, err := enrich(t, k, chat.RespondMention, msg, at(3))
		require.NoError(t, err)
		require.Equal(t, []string{"(stranger) alerts: CPU is high", "deploys: done", "Ana: so?", "u3: well?"}, texts(got))
		require.Equal(t, []chat.Query{{After: at(3), Before: at(5)}}, k.asked)
	})

	t.Run("a later one, where all is answered", func(t *testing.T) {
		t.Parallel()
		k := &knowing{plain: newPlain(), posted: posted}
		_, err := enrich(t, k, chat.RespondThread, msg, at(3))
		require.NoError(t, err)
		direct := msg
		direct.Chat = "dm"
		_, err = enrich(t, k, chat.RespondMention, direct, at(3))
		require.NoError(t, err)
		first := msg
		first.PlatformID = "t1"
		_, err = enrich(t, k, chat.RespondMention, first, time.Time{})
		require.NoError(t, err)
		require.Empty(t, k.asked)
	})

	t.Run("files", func(t *testing.T) {
		t.Parallel()
		files := msg
		files.Files = []domain.File{
			{ID: "1", Name: "a.txt"},
			{ID: "2", Name: "A.txt"},
			{ID: "gone", Name: "b.txt"},
			{ID: "4", Name: "c.mp4", MIME: "video/mp4"},
			{ID: "5", Name: "d.txt", Size: 2048},
			{ID: "a long name", Name: "e.txt"},
		}
		got, err := enrich(t, &knowing{plain: newPlain()}, chat.RespondAll, files, time.Time{})
		require.NoError(t, err)
		require.Equal(t, []domain.SavedFile{
			{Name: "a.txt", MIME: "text/plain", Path: "/media/a.txt"},
			{Name: "A-2.txt", MIME: "text/plain", Path: "/media/A-2.txt"},
			{Name: "c.mp4", MIME: "video/mp4", Path: "/media/c.mp4"},
		}, got.Files)
		require.Equal(t, []string{
			"b.txt was deleted", "d.txt (2 kB) is larger than 20 bytes", "e.txt is larger than 20 bytes",
		}, got.Notes)
	})

	t.Run("unavailable data", func(t *testing.T) {
		t.Parallel()
		for lacking, why := range map[error]string{
			chat.Unavailable("the app lacks a scope"):                 "the app lacks a scope",
			&remote.Error{Service: "fake", Status: 403, Err: errDown}: "fake: status 403: the platform is down",
		} {
			got, err := enrich(t, &knowing{plain: newPlain(), lacking: lacking}, chat.RespondAll, msg, time.Time{})
			require.NoError(t, err)
			require.Equal(t, []string{"the names of people and channels: " + why, "what was said in this thread before: " + why}, got.Notes)
		}
		_, err := enrich(t, &knowing{plain: newPlain(), lacking: &remote.Error{Service: "fake", Status: 503, Err: errDown}}, chat.RespondAll, msg, time.Time{})
		require.ErrorIs(t, err, errDown, "worth another attempt")
	})

	t.Run("on a platform that cannot be asked", func(t *testing.T) {
		t.Parallel()
		named := msg
		named.SenderName, named.Files = "Ana", []domain.File{{ID: "1", Name: "a.txt"}}
		got, err := enrich(t, newPlain(), chat.RespondMention, named, time.Time{})
		require.NoError(t, err)
		require.Equal(t, channels.Enriched{Text: "so, <u2>?", SenderName: "Ana"}, got)
	})
}

func TestPeople(t *testing.T) {
	t.Parallel()
	looked := 0
	people := chat.NewPeople(func(_ context.Context, id string) (chat.Profile, error) {
		looked++
		return chat.Profile{Name: map[string]string{"u1": "Ana Maria", "u2": "Ben", "u3": "ben", "c1": "ana maria"}[id], Person: id[0] == 'u'}, nil
	})
	for range 2 {
		for _, id := range []string{"u1", "u2", "u3", "c1"} {
			_, err := people.Who(t.Context(), id)
			require.NoError(t, err)
		}
	}
	require.Equal(t, 4, looked)
	require.Equal(t, "u1", people.Named("ANA MARIA", true))
	require.Equal(t, "c1", people.Named("Ana Maria", false))
	require.Empty(t, people.Named("Ben", true), "there are two")
	mention := func(id string) string { return "<" + id + ">" }
	require.Equal(t, "<u1>, ask <u1>. @Ben, a@ana maria and <u1> there", people.Mention("@ana maria, ask @Ana Maria. @Ben, a@ana maria and @Ana Maria there", mention))
}
