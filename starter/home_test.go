package starter_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/starter"
)

// idle is a dispatcher that nothing is to signal.
type idle struct{ starter.Dispatcher }

func TestHome(t *testing.T) {
	t.Parallel()
	b := setup(t)
	asked := b.ask(t)
	sender := inbound("1", "do it").Sender
	_, err := b.store.AddJob(t.Context(), domain.Job{
		ID: "j1", Name: "plants", Session: "test:c1", Route: domain.Route{Channel: "test", Chat: "c1", Sender: sender},
	}, "", 10)
	require.NoError(t, err)
	_, err = b.store.AddJob(t.Context(), domain.Job{
		ID: "j2", Name: "other", Session: "test:c2", Route: domain.Route{Channel: "test", Chat: "c2", Sender: "somebody else"},
	}, "", 10)
	require.NoError(t, err)

	home, err := b.Home(t.Context(), "test", sender)
	require.NoError(t, err)
	require.Empty(t, home.Approvals, "nobody said who may decide them")
	require.Empty(t, home.Jobs)
	require.Equal(t, 1, home.Today.Calls)

	s, err := starter.New(starter.Options{Dispatcher: idle{}, Store: b.store, Events: b.bus, Home: starter.HomeOptions{
		MayDecide: func(a domain.Approval, channel, person string) bool { return channel == "test" && person == a.Sender },
		Job:       func(j domain.Job, _ time.Time) domain.HomeJob { return domain.HomeJob{Label: j.Label()} },
	}})
	require.NoError(t, err)
	home, err = s.Home(t.Context(), "test", sender)
	require.NoError(t, err)
	require.Equal(t, []domain.Approval{asked}, home.Approvals)
	require.Equal(t, []domain.HomeJob{{Label: "plants"}}, home.Jobs)
	require.Equal(t, home.Today, home.Month)
	elsewhere, err := s.Home(t.Context(), "other", sender)
	require.NoError(t, err)
	require.Empty(t, elsewhere.Approvals)
	require.Empty(t, elsewhere.Jobs)
	nobody, err := s.Home(t.Context(), "test", "ben")
	require.NoError(t, err)
	nobody.Approvals = nil // or empty
	require.Equal(t, domain.Home{}, nobody)

	require.NoError(t, b.store.Close())
	_, err = s.Home(t.Context(), "test", sender)
	require.Error(t, err)
}

func TestRate(t *testing.T) {
	t.Parallel()
	b := setup(t)
	sent := inbound("1", "hi")
	sent.Push = true
	m := b.accept(t, sent).Message
	b.begin(t, m, 1, m)
	b.answer(t, m, 1, "hello")
	rating := domain.Rating{Turn: m, Channel: sent.Channel, Chat: sent.Chat, Sender: "ana", Good: true, At: time.Now()}
	require.NoError(t, b.Rate(t.Context(), rating))
	all, err := b.store.Ratings(t.Context(), "test:c1")
	require.NoError(t, err)
	require.Len(t, all[m], 1)
	rating.Chat = "c2"
	require.ErrorIs(t, b.Rate(t.Context(), rating), domain.ErrNotFound)
}
