package command

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/store/storetest"
)

// The size of the large store.
const (
	largeSessions = 100_000
	largeTurns    = 4 // of each session
)

// BenchmarkLarge compares a store with 400,000 turns with an empty one, on SQLite and on
// Postgres: the start of the real program, a message, and what runs again and again
// beside messages. It prints tables without assertions.
func BenchmarkLarge(b *testing.B) {
	for _, database := range []string{"sqlite", "postgres"} {
		b.Run(database, func(b *testing.B) {
			empty, large := newSide(b, database), newSide(b, database)
			began := time.Now()
			require.NoError(b, storetest.Fill(b.Context(), large.dsn, largeSessions, largeTurns))
			b.Logf("filled in %v", time.Since(began).Round(time.Second))
			for b.Loop() {
				compare(b, "start to ready", 7, empty.start, large.start)
				empty.process, large.process = empty.home.start(b), large.home.start(b)
				compare(b, "message", 300, empty.message, large.message)
				compare(b, "message, 8 at once", 20, empty.messages, large.messages)
				for _, look := range looks {
					compare(b, look.name, 100, empty.look(look.do), large.look(look.do))
				}
				empty.process.kill()
				large.process.kill()
			}
		})
	}
}

// BenchmarkLargeBacklog starts the real program when 60,000 messages wait, as after an
// outage, and prints how many are taken as time passes.
func BenchmarkLargeBacklog(b *testing.B) {
	const messages, sessions = 60_000, 6_000
	s := newSide(b, "sqlite")
	for i := range messages {
		chat := fmt.Sprint("backlog-", i%sessions)
		_, _, err := s.store.Accept(b.Context(), domain.Inbound{
			ID: domain.MessageID("http", chat, strconv.Itoa(i)), Session: domain.SessionKey("http", chat, ""), Channel: "http",
			Chat: chat, Sender: "ana", Text: "hello",
		})
		require.NoError(b, err)
	}
	for b.Loop() {
		began := time.Now()
		s.process = s.home.start(b)
		b.Logf("ready after %v", time.Since(began).Round(time.Millisecond))
		for left, shown := messages, messages; left > 0; {
			backlog, err := s.store.Backlog(b.Context())
			require.NoError(b, err)
			if left = backlog.Messages + backlog.Turns; shown-left >= messages/10 || left == 0 {
				shown = left
				b.Logf("%6d left after %v", left, time.Since(began).Round(time.Second))
			}
			time.Sleep(time.Second)
		}
		s.process.kill()
	}
}

// side is a home with its store.
type side struct {
	*home
	dsn     string
	store   *store.Store
	process *process
}

func newSide(b *testing.B, database string) *side {
	b.Helper()
	s := &side{home: newHome(b, llmtest.NewStub(b, "an answer"))}
	if database == "postgres" {
		s.dsn = storetest.Postgres(b)
		s.environ = append(s.environ, "HOLDFAST_STORE_DSN="+s.dsn)
	} else {
		s.dsn = filepath.Join(s.dir, "data", "store.db")
	}
	var err error
	s.store, err = store.Open(b.Context(), store.Options{DSN: s.dsn})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, s.store.Close()) })
	return s
}

func (s *side) start(b *testing.B) { s.home.start(b).kill() }

func (s *side) message(b *testing.B) { require.NoError(b, benchAsk(s.process.info.API, 0)) }

func (s *side) messages(b *testing.B) {
	ask := func(session, _ int) error { return benchAsk(s.process.info.API, session) }
	require.NoError(b, measure(ask, 8, 40).err)
}

func (s *side) look(do func(context.Context, *store.Store) error) func(*testing.B) {
	return func(b *testing.B) { require.NoError(b, do(b.Context(), s.store)) }
}

// looks are what processes and people look up again and again.
var looks = []struct {
	name string
	do   func(context.Context, *store.Store) error
}{
	{"consolidation: scopes", func(ctx context.Context, s *store.Store) error {
		_, err := s.DueScopes(ctx, config.Default("").Agent.MemoryWindow)
		return err
	}},
	{"consolidation: batch", func(ctx context.Context, s *store.Store) error {
		_, _, err := s.NextBatch(ctx, "workspace", config.Default("").Agent.MemoryWindow, 200)
		return err
	}},
	{"sweep: messages", func(ctx context.Context, s *store.Store) error {
		_, err := s.ClaimMessages(ctx, claimNow())
		return err
	}},
	{"sweep: turns", func(ctx context.Context, s *store.Store) error {
		_, err := s.ClaimTurns(ctx, claimNow())
		return err
	}},
	{"sweep: subagents", func(ctx context.Context, s *store.Store) error {
		_, err := s.ClaimSubagents(ctx, claimNow())
		return err
	}},
	{"sweep: replies", func(ctx context.Context, s *store.Store) error {
		_, err := s.ClaimUndelivered(ctx, claimNow(), time.Now().Add(-24*time.Hour))
		return err
	}},
	{"sweep: drafts", func(ctx context.Context, s *store.Store) error {
		_, err := s.StaleDrafts(ctx, "slack")
		return err
	}},
	{"retention", func(ctx context.Context, s *store.Store) error {
		_, err := s.Unused(ctx, time.Now().Add(-24*time.Hour), store.Used{}, 1)
		return err
	}},
	{"unfinished sessions", func(ctx context.Context, s *store.Store) error {
		_, err := s.RunningSessions(ctx)
		return err
	}},
	{"backlog", func(ctx context.Context, s *store.Store) error {
		_, err := s.Backlog(ctx)
		return err
	}},
	{"jobs", func(ctx context.Context, s *store.Store) error {
		_, err := s.UnsettledJobs(ctx)
		return err
	}},
	{"sessions list", func(ctx context.Context, s *store.Store) error {
		_, err := s.Sessions(ctx, 1)
		return err
	}},
}

func claimNow() store.Claim {
	return store.Claim{Before: time.Now(), Due: time.Now(), Until: time.Now(), Limit: 500}
}

// compare prints the medians of two measurements that alternate.
func compare(b *testing.B, what string, times int, empty, large func(*testing.B)) {
	b.Helper()
	var took [2][]time.Duration
	for range times {
		for i, do := range []func(*testing.B){empty, large} {
			began := time.Now()
			do(b)
			took[i] = append(took[i], time.Since(began))
		}
	}
	for i := range took {
		slices.Sort(took[i])
	}
	without, with := took[0][times/2], took[1][times/2]
	b.Logf("%-24s empty %10v  large %10v  ratio %.2f", what, without.Round(time.Microsecond), with.Round(time.Microsecond),
		float64(with)/float64(without))
}
