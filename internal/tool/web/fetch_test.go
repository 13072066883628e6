package web_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/remote"
	"github.com/holdfast-ai/holdfast/internal/tool"
	"github.com/holdfast-ai/holdfast/internal/tool/web"
)

// article is a page with a main content and things around it.
var article = `<html><head><title>On  Durable
Agents</title><style>p{}</style></head><body>
<nav><a href="/home">Home</a> <a href="/ads">Buy now</a></nav>
<article><h1>On Durable Agents</h1><h2>Why</h2>` + strings.Repeat(`<p>An agent that forgets what it did, does it twice, and that is worse than
not doing it, as <a href="/why">we showed</a> at length, with <strong>numbers</strong>.</p>`, 5) + `
<table><tr><th>crash</th><th>lost</th></tr><tr><td>kill -9</td><td>nothing</td></tr></table></article>
<footer>Imprint</footer><script>track()</script></body></html>`

func TestFetchContent(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, contentType, body string
		args                    args
		want, not               []string
	}{
		{
			"a page as Markdown, without what surrounds it", "text/html; charset=utf-8", article,
			args{},
			[]string{"Title: On Durable Agents\nURL: URL/\n\n", "## Why\n", "[we showed](URL/why)", "**numbers**", "| kill -9 | nothing |"},
			[]string{"<p>", "Buy now", "track()", "Imprint"},
		},
		{"the source of a page", "text/html", "<p>Hi</p>", args{"raw": true}, []string{"\n\n<p>Hi</p>"}, nil},
		{"a page without an article", "text/html", "<title>T</title><p>Hi <b>you</b>", args{}, []string{"Title: T\n", "Hi **you**"}, nil},
		{"a page that is only markup", "text/html", "<html><body></body></html>", args{}, []string{"URL: URL/\n"}, nil},
		{"a page nested too deeply for the parser", "text/html", strings.Repeat("<div>", 5000) + "deep", args{}, []string{"deep"}, nil},
		{
			// With escapes this one takes minutes.
			"a page full of Markdown's own characters", "text/html", strings.Repeat("a*_[`\\", 80_000), args{}, []string{"a*_[`\\a*_["}, nil,
		},
		{"HTML without a type", "", "<!doctype html><p>Hi <b>you</b>", args{}, []string{"Hi **you**"}, nil},
		{"JSON as it is", "application/json", `{"a": [1, 2]}`, args{}, []string{"\n\n" + `{"a": [1, 2]}`}, nil},
		{"JSON with a type of its own", "application/problem+json", `{"a":1}`, args{}, []string{`{"a":1}`}, nil},
		{"text as it is", "text/plain", "a  b\n<c>", args{}, []string{"\n\na  b\n<c>"}, nil},
		{"a declared character set", "text/plain; charset=iso-8859-1", "caf\xe9", args{}, []string{"café"}, nil},
		{"a character set in the page", "text/html", "<meta charset=shift_jis><p>\x93\xfa\x96\x7b", args{}, []string{"日本"}, nil},
		{"UTF-8 that nothing declares", "text/plain", strings.Repeat("x", 2000) + "日本", args{}, []string{"x日本"}, nil},
		{"UTF-16", "text/plain; charset=utf-16le", "h\x00i\x00", args{}, []string{"\n\nhi"}, nil},
		{"broken UTF-8", "text/plain; charset=utf-8", "a\xff", args{}, []string{"a\uFFFD"}, nil},
		{"an image, described", "image/png", "\x89PNG\r\n", args{}, []string{"(image/png, 6 bytes"}, []string{"PNG\r"}},
		{"text that is none, described", "text/plain", "a\x00b", args{}, []string{"(text/plain, 3 bytes"}, nil},
		{"nothing", "text/plain", "", args{}, []string{"(the document is empty)"}, nil},
		{
			"as many characters as asked for", "text/plain", "日本語日本語",
			args{"max_chars": 4},
			[]string{"Note: only the first 4 characters are shown; set max_chars for more\n\n日本語日"},
			[]string{"日本語日本"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Type"] = nil
				if tt.contentType != "" {
					w.Header().Set("Content-Type", tt.contentType)
				}
				fmt.Fprint(w, tt.body)
			})
			tt.args["url"] = server.URL + "/"
			text, err := run(t, web.Options{AllowPrivate: allow(server)}, "web_fetch", tt.args)
			require.NoError(t, err)
			text = strings.ReplaceAll(text, server.URL, "URL")
			for _, want := range tt.want {
				require.Contains(t, text, want)
			}
			for _, not := range tt.not {
				require.NotContains(t, text, not)
			}
		})
	}
}

func TestFetchTruncatesLargeBody(t *testing.T) {
	t.Parallel()

	t.Run("as it is sent", func(t *testing.T) {
		t.Parallel()
		sent := make(chan int64, 1)
		server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			n, _ := io.CopyN(w, zeros{}, 100<<20)
			sent <- n
		})
		text, err := run(t, web.Options{AllowPrivate: allow(server)}, "web_fetch", args{"url": server.URL})
		require.NoError(t, err)
		require.Contains(t, text, "larger than 5 MB and was truncated")
		require.Less(t, len(text), 60_000)
		require.Less(t, <-sent, int64(100<<20))
	})

	t.Run("as it is unpacked", func(t *testing.T) {
		t.Parallel()
		var packed bytes.Buffer
		zip, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
		require.NoError(t, err)
		_, err = io.CopyN(zip, zeros{}, 6<<20)
		require.NoError(t, err)
		require.NoError(t, zip.Close())
		server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(packed.Bytes())
		})
		text, err := run(t, web.Options{AllowPrivate: allow(server)}, "web_fetch", args{"url": server.URL})
		require.NoError(t, err)
		require.Contains(t, text, "larger than 5 MB and was truncated")
	})
}

// zeros is an endless text of the digit 0.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

func TestFetchTimeout(t *testing.T) {
	t.Parallel()

	t.Run("a slow drip is cut", func(t *testing.T) {
		t.Parallel()
		server := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			fmt.Fprint(w, "the first drop")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		})
		o := web.Options{AllowPrivate: allow(server), Timeout: 300 * time.Millisecond}
		text, err := run(t, o, "web_fetch", args{"url": server.URL})
		require.NoError(t, err)
		require.Contains(t, text, "not complete after 300ms")
		require.Contains(t, text, "the first drop")
	})

	t.Run("a silent server times out", func(t *testing.T) {
		t.Parallel()
		server := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		o := web.Options{AllowPrivate: allow(server), Timeout: 300 * time.Millisecond}
		_, err := run(t, o, "web_fetch", args{"url": server.URL})
		require.ErrorContains(t, err, "did not answer in time")
		require.Nil(t, remote.As(err))
	})

	t.Run("a stopped call says why", func(t *testing.T) {
		t.Parallel()
		arrived := make(chan struct{})
		server := serve(t, func(_ http.ResponseWriter, r *http.Request) { close(arrived); <-r.Context().Done() })
		stopped := errors.New("the user stopped it")
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() { <-arrived; cancel(stopped) }()
		fetch := lookup(t, web.Options{AllowPrivate: allow(server)}, "web_fetch")
		_, err := fetch.Run(ctx, tool.Call{Arguments: []byte(`{"url":"` + server.URL + `"}`)})
		require.ErrorIs(t, err, stopped)
	})
}

func TestFetchFailures(t *testing.T) {
	t.Parallel()
	tests := []struct {
		status    int
		permanent bool
	}{{http.StatusNotFound, true}, {http.StatusForbidden, true}, {http.StatusTooManyRequests, false}, {http.StatusBadGateway, false}}
	for _, tt := range tests {
		t.Run(http.StatusText(tt.status), func(t *testing.T) {
			t.Parallel()
			server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "7")
				http.Error(w, "<b>no</b>", tt.status)
			})
			o := web.Options{AllowPrivate: allow(server)}
			_, err := run(t, o, "web_fetch", args{"url": server.URL})
			failed := remote.As(err)
			require.NotNil(t, failed)
			require.Equal(t, tt.status, failed.Status)
			require.Equal(t, tt.permanent, failed.Permanent())
			require.Equal(t, 7*time.Second, failed.RetryAfter)
			require.ErrorContains(t, err, http.StatusText(tt.status))

			_, err = attempt(t, o, "web_fetch", args{"url": server.URL}, 3)
			require.ErrorContains(t, err, "gave up after 3 attempts")
			require.Nil(t, remote.As(err))
		})
	}

	t.Run("no one listens", func(t *testing.T) {
		t.Parallel()
		server := serve(t, func(http.ResponseWriter, *http.Request) {})
		o := web.Options{AllowPrivate: allow(server)}
		server.Close()
		_, err := run(t, o, "web_fetch", args{"url": server.URL})
		require.NotNil(t, remote.As(err))
		require.False(t, remote.As(err).Permanent())
	})
}

func TestFetchSendsUserAgent(t *testing.T) {
	t.Parallel()
	server := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "you are ", r.UserAgent()) })
	text, err := run(t, web.Options{AllowPrivate: allow(server), UserAgent: "tester/1"}, "web_fetch", args{"url": server.URL})
	require.NoError(t, err)
	require.Contains(t, text, "you are tester/1")
}

func TestToolKinds(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"web_fetch", "web_search"} {
		found := lookup(t, web.Options{}, name)
		require.Equal(t, tool.Repeatable, found.Kind)
		require.True(t, found.ReadOnly)
		require.Greater(t, found.Timeout, 30*time.Second)
	}
}
