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

// model is a provider without a network, so that a test's time is its own.
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

// calls returns how often it was called since it was last asked for.
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

// pair is two candidates, and a call of both.
func pair(t *testing.T) (first, second *model, call func() (llm.Response, error)) {
	first, second = &model{}, &model{}
	p, err := fallback.New([]fallback.Candidate{
		{Name: "x/first", Provider: first, Model: "first"},
		{Name: "y/second", Provider: second, Model: "second"},
	}, nil)
	require.NoError(t, err)
	return first, second, func() (llm.Response, error) { return p.Complete(t.Context(), llm.Request{}, nil) }
}

func TestRestsGrowUntilItAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first, second, call := pair(t)
		first.err = status(500, 0)
		for range 3 {
			_, err := call()
			require.NoError(t, err)
		}
		require.Equal(t, 3, first.calls(), "it is asked until it has failed three times")
		for _, rest := range []time.Duration{30, 60, 120, 240, 480, 600, 600} {
			time.Sleep(rest*time.Second - time.Millisecond)
			_, err := call()
			require.NoError(t, err)
			require.Zero(t, first.calls(), "it rests for %d s", rest)
			time.Sleep(time.Millisecond)
			for range 2 {
				_, err = call()
				require.NoError(t, err)
			}
			require.Equal(t, 1, first.calls(), "it is tried once after %d s", rest)
		}
		require.Equal(t, 3+3*7, second.calls())

		first.err = nil
		time.Sleep(10 * time.Minute)
		response, err := call()
		require.NoError(t, err)
		require.Equal(t, "x", response.Provider)
		require.Equal(t, "first", response.Model, "its own name, where it does not say one")
		first.err = status(500, 0)
		for range 2 {
			_, err = call()
			require.NoError(t, err)
		}
		first.err = nil
		response, err = call()
		require.NoError(t, err)
		require.Equal(t, "x", response.Provider, "it starts from nothing again")
	})
}

func TestWhatIsHopelessRestsAtOnce(t *testing.T) {
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

func TestARestThatTheServiceAskedFor(t *testing.T) {
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
		require.Zero(t, remote.As(err).RetryAfter, "the second did not say")
		second.err = status(503, 60*time.Second)
		_, err = call()
		require.Equal(t, 10*time.Second, remote.As(err).RetryAfter, "what remains for the first")
		require.Equal(t, 1, first.calls())
		require.Equal(t, 3, second.calls())

		_, err = call()
		require.Equal(t, 10*time.Second, remote.As(err).RetryAfter)
		require.Zero(t, first.calls()+second.calls(), "nobody is asked before the time")
		time.Sleep(10 * time.Second)
		response, err := call()
		require.NoError(t, err)
		require.Equal(t, "x", response.Provider)
	})
}

func TestAMomentIsWaitedForButNotForEver(t *testing.T) {
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

func TestWithNobodyElseARestIsNoReason(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first, second, call := pair(t)
		first.err, second.err = status(401, 0), status(500, 0)
		for range 5 {
			_, err := call()
			require.Equal(t, 500, remote.As(err).Status)
		}
		require.Equal(t, 5, second.calls(), "the user waits, and only a call can tell")
		require.Equal(t, 3, first.calls(), "while the second was no better")

		time.Sleep(30 * time.Second)
		first.err, second.err = nil, nil
		response, err := call()
		require.NoError(t, err)
		require.Equal(t, "x", response.Provider, "asking in a rest did not lengthen it")
	})
}

func TestAnswersThatSayNoAreAnswers(t *testing.T) {
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
		other := errors.New("a bug of ours")
		first.err = other
		_, err := call()
		require.Equal(t, other, err)
	})
}

func TestOneCallTriesItAndTheOthersGoOn(t *testing.T) {
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
