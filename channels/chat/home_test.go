package chat_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// homely is a platform on which people have a page.
type homely struct {
	*plain
	mu    sync.Mutex
	shown []shownHome
}

type shownHome struct {
	at   chat.Place
	page chat.Home
}

func (h *homely) ShowHome(_ context.Context, at chat.Place, page chat.Home) error {
	if err := h.fail(); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.shown = append(h.shown, shownHome{at, page})
	return nil
}

// runHome runs a platform with pages; page waits for the nth one.
func runHome(t *testing.T, answer func(domain.Inbound) *channeltest.Answer) (r *running, page func(n int) shownHome) {
	h := &homely{}
	r = run(t, options(), channeltest.NewBackend(answer), func(p *plain) chat.Platform {
		h.plain = p
		return h
	})
	return r, func(n int) shownHome {
		t.Helper()
		require.Eventually(t, func() bool {
			h.mu.Lock()
			defer h.mu.Unlock()
			return len(h.shown) >= n
		}, deadline, tick)
		h.mu.Lock()
		defer h.mu.Unlock()
		require.Len(t, h.shown, n)
		return h.shown[n-1]
	}
}

func visit(by string) *chat.Visit {
	return &chat.Visit{Origin: chat.Origin{Inbound: domain.Inbound{Chat: "team/dm", Sender: by}, Direct: true}}
}

func clickAtHome(by, id, value string) *chat.Click {
	return &chat.Click{
		Origin: chat.Origin{Inbound: domain.Inbound{PlatformID: id, Chat: "team/dm", Sender: by}, Direct: true},
		Action: chat.ActionApprove, Value: value, Home: true,
	}
}

func TestAPersonSeesTheirPage(t *testing.T) {
	t.Parallel()
	r, page := runHome(t, channeltest.Hold)
	asked := domain.Approval{ID: domain.ApprovalID("m1.1.0"), Tool: "exec"}
	home := domain.Home{Approvals: []domain.Approval{asked}, Jobs: []domain.HomeJob{{Label: "plants"}}}
	r.backend.SetHome("fake", "ana", home)
	deliver := func(d chat.Delivery) {
		t.Helper()
		_, err := r.in.Deliver(r.ctx, d)
		require.NoError(t, err)
	}
	deliver(visit("ana"))
	require.Equal(t, shownHome{chat.Place{Chat: "team/dm", Person: "ana"}, chat.Home{Home: home}}, page(1))

	deliver(clickAtHome("ana", "c1", asked.ID))
	accepted := r.backend.Accepted()
	require.Len(t, accepted, 1)
	require.Equal(t, []any{"/approve " + asked.ID, "team/dm", false}, []any{accepted[0].Text, accepted[0].Chat, accepted[0].Push})
	require.Len(t, page(1).page.Approvals, 1, "the decision is not made yet")
	r.backend.End(domain.MessageID("fake", "team/dm", "approve-c1"), channeltest.Answer{})
	require.Empty(t, page(2).page.Approvals)
	require.Len(t, page(2).page.Jobs, 1)

	r.backend.FailAccept(1)
	_, err := r.in.Deliver(r.ctx, clickAtHome("ana", "c2", asked.ID))
	require.Error(t, err, "it is not stored")
}

func TestAStrangerSeesHowToBeLetIn(t *testing.T) {
	t.Parallel()
	r, page := runHome(t, nil)
	r.backend.SetHome("fake", "ben", domain.Home{Jobs: []domain.HomeJob{{Label: "secret"}}})
	for i, d := range []chat.Delivery{visit("ben"), clickAtHome("ben", "c1", domain.ApprovalID("m1.1.0"))} {
		_, err := r.in.Deliver(r.ctx, d)
		require.NoError(t, err)
		shown := page(i + 1)
		require.Contains(t, shown.page.Refused, "pairing approve PAIR-ben")
		require.Empty(t, shown.page.Home)
	}
	require.Empty(t, r.backend.Accepted())
	r.backend.Approve("fake", "ben")
	_, err := r.in.Deliver(r.ctx, visit("ben"))
	require.NoError(t, err)
	require.Equal(t, "secret", page(3).page.Jobs[0].Label)
}

func TestAPageThatCannotBeShown(t *testing.T) {
	t.Parallel()
	r, page := runHome(t, nil)
	r.plain.mu.Lock()
	r.plain.failing = 1
	r.plain.mu.Unlock()
	_, err := r.in.Deliver(r.ctx, visit("ana"))
	require.NoError(t, err)
	logged := func() bool { return r.log.has("page not shown") }
	require.Eventually(t, logged, deadline, tick)
	_, err = r.in.Deliver(r.ctx, visit("ana"))
	require.NoError(t, err)
	page(1)

	without := run(t, options(), channeltest.NewBackend(nil), asIs)
	_, err = without.in.Deliver(without.ctx, visit("ana"))
	require.NoError(t, err, "the platform has no pages")
}

func TestPagesDoNotHoldUpTheEnd(t *testing.T) {
	t.Parallel()
	r, _ := runHome(t, channeltest.Hold)
	asked := domain.ApprovalID("m1.1.0")
	_, err := r.in.Deliver(r.ctx, clickAtHome("ana", "c1", asked))
	require.NoError(t, err)
	began := time.Now()
	require.NoError(t, r.stop())
	require.Less(t, time.Since(began), 5*time.Second, "it waited for a decision")
}
