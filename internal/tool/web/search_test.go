package web_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/remote"
	"github.com/holdfast-ai/holdfast/internal/tool/web"
)

func TestSearch(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, recorded string
		configure      func(*web.Search, web.Service)
		asked, want    string
	}{
		{
			"brave", "brave.json", func(s *web.Search, v web.Service) { s.Brave = v },
			"GET /res/v1/web/search?count=2&q=durable+agents token=key auth= body=",
			"1. **Temporal & you**\n   https://temporal.io/a\n   Durable execution for all.\n2. **Second**\n   https://example.com/b\n",
		},
		{
			"tavily", "tavily.json", func(s *web.Search, v web.Service) { s.Tavily = v },
			`POST /search token= auth=Bearer key body={"max_results":2,"query":"durable agents"}`,
			"1. **Generics**\n   https://example.com/g\n   a vector<int> of numbers\n",
		},
		{
			"searxng", "searxng.json", func(s *web.Search, v web.Service) { s.SearXNG = v },
			"GET /search?format=json&q=durable+agents token= auth= body=",
			"1. **From SearXNG**\n   https://example.org/x\n   found by several engines\n",
		},
		{
			"duckduckgo", "duckduckgo.html", func(s *web.Search, v web.Service) { s.DuckDuckGo = v },
			"GET /html/?q=durable+agents token= auth= body=",
			"1. **Temporal docs**\n   https://temporal.io/docs?a=1\n   Read the docs here.\n2. **Direct**\n   https://example.com/direct\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			recorded, err := os.ReadFile(filepath.Join("testdata", tt.recorded))
			require.NoError(t, err)
			asked := make(chan string, 1)
			server := serve(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				asked <- fmt.Sprintf("%s %s token=%s auth=%s body=%s",
					r.Method, r.URL, r.Header.Get("X-Subscription-Token"), r.Header.Get("Authorization"), body)
				_, _ = w.Write(recorded)
			})
			for _, chosen := range []string{"auto", "", tt.name} {
				o := web.Options{Search: web.Search{Backend: chosen}}
				tt.configure(&o.Search, web.Service{BaseURL: server.URL + "/", APIKey: "key"})
				text, err := run(t, o, "web_search", args{"query": " durable agents ", "count": 2})
				require.NoError(t, err)
				require.Equal(t, tt.asked, <-asked)
				require.Equal(t, tt.want, text)
			}
		})
	}
}

func TestAutoPrefersConfiguredBackend(t *testing.T) {
	t.Parallel()
	server := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Error(w, r.URL.Path, http.StatusTeapot) })
	service := web.Service{BaseURL: server.URL, APIKey: "key"}
	keyless := web.Service{BaseURL: server.URL}
	tests := []struct {
		search web.Search
		asks   string
	}{
		{web.Search{Brave: service, Tavily: service, SearXNG: service, DuckDuckGo: service}, "brave"},
		{web.Search{Brave: keyless, Tavily: service, SearXNG: service, DuckDuckGo: service}, "tavily"},
		{web.Search{SearXNG: keyless, DuckDuckGo: service}, "searxng"},
		{web.Search{DuckDuckGo: keyless}, "duckduckgo"},
	}
	for _, tt := range tests {
		_, err := run(t, web.Options{Search: tt.search}, "web_search", args{"query": "x"})
		require.NotNil(t, remote.As(err))
		require.Equal(t, tt.asks, remote.As(err).Service)
	}
}

func TestSearchConfiguration(t *testing.T) {
	t.Parallel()
	tests := []struct{ backend, says string }{
		{"brave", "set its API key"},
		{"tavily", "set its API key"},
		{"searxng", "set its base URL"},
		{"altavista", `unknown backend "altavista"; available: auto, brave, tavily, searxng, duckduckgo`},
	}
	for _, tt := range tests {
		_, err := web.New(web.Options{Search: web.Search{Backend: tt.backend}})
		require.ErrorContains(t, err, tt.says)
	}
}

func TestSearchFailures(t *testing.T) {
	t.Parallel()
	search := func(t *testing.T, handler http.HandlerFunc, timeout time.Duration) (string, error) {
		t.Helper()
		o := web.Options{Timeout: timeout, Search: web.Search{Backend: "searxng", SearXNG: web.Service{BaseURL: serve(t, handler).URL}}}
		return run(t, o, "web_search", args{"query": "x"})
	}

	t.Run("an invalid key is reported to the model", func(t *testing.T) {
		t.Parallel()
		_, err := search(t, func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"error":"the key is unknown"}`, http.StatusUnauthorized)
		}, 0)
		require.True(t, remote.As(err).Permanent())
		require.ErrorContains(t, err, "the key is unknown")
	})

	t.Run("an overloaded service is retried after its Retry-After", func(t *testing.T) {
		t.Parallel()
		_, err := search(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "9")
			w.WriteHeader(http.StatusTooManyRequests)
		}, 0)
		require.False(t, remote.As(err).Permanent())
		require.Equal(t, 9*time.Second, remote.As(err).RetryAfter)
	})

	t.Run("a response that is not JSON is not retried", func(t *testing.T) {
		t.Parallel()
		_, err := search(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, 0)
		require.ErrorContains(t, err, "check the base URL")
		require.Nil(t, remote.As(err))
	})

	t.Run("keys are not sent to other hosts", func(t *testing.T) {
		t.Parallel()
		other := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") })
		_, err := search(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, http.StatusFound) }, 0)
		require.ErrorContains(t, err, "correct its base URL")
		require.Nil(t, remote.As(err))
	})

	t.Run("a silent service times out", func(t *testing.T) {
		t.Parallel()
		_, err := search(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 300*time.Millisecond)
		require.ErrorContains(t, err, "did not answer in time")
	})

	t.Run("no results are no failure", func(t *testing.T) {
		t.Parallel()
		text, err := search(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"results":[]}`) }, 0)
		require.NoError(t, err)
		require.Equal(t, `searxng found nothing for "x"`, text)
	})

	t.Run("an empty query is refused", func(t *testing.T) {
		t.Parallel()
		_, err := run(t, web.Options{}, "web_search", args{"query": " "})
		require.ErrorContains(t, err, "the query is empty")
	})

	t.Run("a challenge for robots is explained", func(t *testing.T) {
		t.Parallel()
		server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `<form id="challenge-form"><div class="anomaly-modal__title">Prove it</div></form>`)
		})
		o := web.Options{Search: web.Search{DuckDuckGo: web.Service{BaseURL: server.URL}}}
		_, err := run(t, o, "web_search", args{"query": "x"})
		require.ErrorContains(t, err, "configure another search service")
	})
}
