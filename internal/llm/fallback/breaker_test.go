package fallback_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/llm/fallback"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// model is a provider without a network, for synthetic time.
type model struct {
	mu     sync.Mutex
	err    error         // nil: it answers
	takes  time.Duration // a call
	called int
}

func (m *model) Complete(context.Context, llm.Request, func(llm.Delta)) (llm.Response, error) {
	m.mu.Lock()
	err, takes := m.err, m.takes
	m.called++
	m.mu.Unlock()
	time.Sleep(takes)
	return llm.Response{Content: "ok"}, err
}

// calls returns the number of calls since the last time.
func (m *model) calls() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.called
	m.called = 0
	return n
}

func status(code int, retryAfter time.Duration) error {
	return &remote.Error{Service: "x", Status: code, RetryAfter: retryAfter, Err: errors.New("no")}
}

// pair is two candidates and the provider of both.
func pair(t *testing.T) (first, second *model, call func() (llm.Response, error)) {
	first, second = &model{}, &model{}
	p, err := fallback.New([]fallback.Candidate{
		{Name: "x/first", Provider: first, Model: "first"},
		{Name: "y/second", Provider: second, Model: "second"},
	}, nil)
	require.NoError(t, err)
	return first, second, func() (llm.Response, error) { return p.Complete(t.Context(), llm.Request{}, nil) }
}

func TestCooldownsGrowUntilTheModelAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first, second, call := pair(t)
		first.err = status(500, 0)
		for range 3 {
			_, err := call()
			require.NoError(t, err)
		}
		require.Equal(t, 3, first.calls(), "asked until it failed three times")
		for _, rest := range []time.Duration{30, 60, 120, 240, 480, 600, 600} {
			time.Sleep(rest*time.Second - time.Millisecond)
			_, err := call()
			require.NoError(t, err)
			require.Zero(t, first.calls(), "cooldown of %d s", rest)
			time.Sleep(time.Millisecond)
			for range 2 {
				_, err = call()
				require.NoError(t, err)
			}
			require.Equal(t, 1, first.calls(), "tried once after %d s", rest)
		}
		require.Equal(t, 3+3*7, second.calls())

		first.err = nil
		time.Sleep(10 * time.Minute)
		response, err := call()
		require.NoError(t, err)
		require.Equal(t, "x", response.Provider)
		require.Equal(t, "first", response.Model, "the name it was asked for, if it reports none")
		first.err = status(500, 0)
		for range 2 {
			_, err = call()
			require.NoError(t, err)
		}
		first.err = nil
		response, err = call()
		require.NoError(t, err)
		require.Equal(t, "x", response.Provider, "the failures are forgotten")
	})
}

func TestNonRetryableErrorsStartACooldownAtOnce(t *testing.T) {
	t.Parallel()
	for code, atOnce := range map[int]bool{401: true, 402: true, 404: true, 403: false, 429: false, 500: false, 0: false} {
		synctest.Test(t, func(t *testing.T) {
			first, _, call := pair(t)
			first.err = status(code, 0)
			for range 2 {
				_, err := call()
				require.NoError(t, err)
			}
			require.Equal(t, atOnce, first.calls() == 1, "status %d", code)
		})
	}
}

func TestCooldownRequestedByTheService(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first, second, call := pair(t)
		first.err = status(429, 90*time.Second)
		_, err := call()
		require.NoError(t, err)
		first.err = nil
		time.Sleep(80 * time.Second)
		second.err = status(503, 0)
		_, err = call()
		require.Equal(t, 429, remote.As(err).Status)
		require.Zero(t, remote.As(err).RetryAfter, "the second did not ask for a wait")
		second.err = status(503, 60*time.Second)
		_, err = call()
		require.Equal(t, 10*time.Second, remote.As(err).RetryAfter, "what remains for the first")
		require.Equal(t, 1, first.calls())
		require.Equal(t, 3, second.calls())

		_, err = call()
		require.Equal(t, 10*time.Second, remote.As(err).RetryAfter)
		require.Zero(t, first.calls()+second.calls(), "no one is asked too early")
		time.Sleep(10 * time.Second)
		response, err := call()
		require.NoError(t, err)
		require.Equal(t, "x", response.Provider)
	})
}

func TestShortWaitsAreLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first, second, call := pair(t)
		first.err = status(429, 2*time.Second)
		for range 2 {
			_, err := call()
			require.Equal(t, 2*time.Second, remote.As(err).RetryAfter)
		}
		require.Zero(t, second.calls())
		response, err := call()
		require.NoError(t, err)
		require.Equal(t, "y", response.Provider)
	})
}

func TestTheOnlyCandidateIsCalledDuringACooldown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first, second, call := pair(t)
		first.err, second.err = status(401, 0), status(500, 0)
		for range 5 {
			_, err := call()
			require.Equal(t, 500, remote.As(err).Status)
		}
		require.Equal(t, 5, second.calls(), "the user is waiting: call anyway")
		require.Equal(t, 3, first.calls(), "while the second failed too")

		time.Sleep(30 * time.Second)
		first.err, second.err = nil, nil
		response, err := call()
		require.NoError(t, err)
		require.Equal(t, "x", response.Provider, "calls during a cooldown do not extend it")
	})
}

func TestRejectedRequestsEndACooldown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first, second, call := pair(t)
		for range 4 {
			for _, err := range []error{status(500, 0), status(500, 0), status(400, 0)} {
				first.err = err
				_, _ = call()
			}
		}
		require.Equal(t, 12, first.calls())
		require.Equal(t, 8, second.calls())
		other := errors.New("internal bug")
		first.err = other
		_, err := call()
		require.Equal(t, other, err)
	})
}

func TestOneCallTriesACandidateAfterItsCooldown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first, second, call := pair(t)
		first.err = status(401, 0)
		_, err := call()
		require.NoError(t, err)
		time.Sleep(time.Minute)
		first.err, first.takes = nil, time.Second
		first.calls()
		second.calls()
		answers := make(chan string, 5)
		for range 5 {
			go func() {
				response, _ := call()
				answers <- response.Provider
			}()
		}
		var got []string
		for range 5 {
			got = append(got, <-answers)
		}
		slices.Sort(got)
		require.Equal(t, []string{"x", "y", "y", "y", "y"}, got)
		require.Equal(t, 1, first.calls())
	})
}
