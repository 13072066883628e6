package web_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/chat/web"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s.URL
}

func TestCalls(t *testing.T) {
	t.Parallel()
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch r.URL.Path {
		case "/echo":
			w.Header().Set("Kind", r.Header.Get("Content-Type"))
			_, _ = w.Write(body)
		case "/large":
			_, _ = io.WriteString(w, strings.Repeat("x", 101))
		case "/away":
			http.Redirect(w, r, "/echo", http.StatusFound)
		case "/cut":
			panic(http.ErrAbortHandler)
		default:
			w.Header().Set("Retry-After", "7")
			http.Error(w, "no", http.StatusTooManyRequests)
		}
	})
	c := web.NewClient("acme", 5*time.Second, 100)
	call := func(path string, body any) (*web.Answer, error) {
		return c.Do(t.Context(), web.Call{Name: "send", Method: http.MethodPost, URL: base + path + "?secret", Body: body})
	}

	answer, err := call("/echo", map[string]int{"a": 1})
	require.NoError(t, err)
	require.Equal(t, "application/json; charset=utf-8", answer.Header.Get("Kind"))
	var got struct{ A int }
	require.NoError(t, answer.Decode(&got))
	require.Equal(t, 1, got.A)
	require.NoError(t, answer.Decode(nil))
	require.Zero(t, remote.As(answer.Decode(&[]int{})).Status, "what became of the call is unknown")

	for _, path := range []string{"/large", "/cut"} {
		_, err = call(path, nil)
		require.Zero(t, remote.As(err).Status)
		require.NotContains(t, err.Error(), "secret")
	}

	answer, err = call("/away", nil)
	require.NoError(t, err)
	require.False(t, answer.OK(), "a redirect is not followed")
	failed := answer.Refused(nil)
	require.Equal(t, []any{http.StatusBadGateway, web.OperatorDelay, "acme"}, []any{failed.Status, failed.RetryAfter, failed.Service})

	answer, err = call("/busy", nil)
	require.NoError(t, err)
	for _, why := range []error{nil, io.EOF} {
		failed = answer.Refused(why)
		require.Equal(t, []any{http.StatusTooManyRequests, 7 * time.Second}, []any{failed.Status, failed.RetryAfter})
	}
	require.ErrorIs(t, failed, io.EOF)

	_, err = call("/echo", func() {})
	require.ErrorContains(t, err, "encode")
	_, err = c.Do(t.Context(), web.Call{URL: "http://secret\x00/"})
	require.Error(t, err)
	require.NotContains(t, err.Error(), "secret")
}

func TestForm(t *testing.T) {
	t.Parallel()
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		file, header, err := r.FormFile("file")
		if err == nil {
			_, err = io.Copy(w, file)
		}
		if err != nil || header.Filename != `a "b" ü.txt` || header.Header.Get("Content-Type") != "text/plain" || r.FormValue("x") != "1" {
			http.Error(w, "not the form", http.StatusBadRequest)
		}
	})
	answer, err := web.NewClient("acme", 5*time.Second, 100).Do(t.Context(), web.Call{Method: http.MethodPost, URL: base, Form: &web.Form{
		Fields: map[string]string{"x": "1"}, Field: "file", Name: `a "b" ü.txt`, Type: "text/plain", Content: []byte("content"),
	}})
	require.NoError(t, err)
	require.True(t, answer.OK())
	require.Equal(t, "content", string(answer.Body))
}

func TestCodes(t *testing.T) {
	t.Parallel()
	codes := web.Codes{
		Later: map[int]string{1: "closed"}, Gone: map[int]bool{2: true}, Limited: map[int]bool{3: true}, Unavailable: map[int]bool{4: true},
		Operator: map[int]string{5: "fix it"},
	}
	for code, want := range map[int]struct {
		status int
		wait   time.Duration
		kind   error
	}{
		1: {status: 400, kind: channels.ErrUndeliverableNow}, 2: {status: 400, kind: channels.ErrGone}, 3: {status: 429}, 4: {status: 503},
		5: {status: 503, wait: web.OperatorDelay}, 6: {status: 400},
	} {
		failed := &remote.Error{Status: http.StatusOK, Err: io.EOF}
		codes.Classify(failed, code)
		require.Equal(t, []any{want.status, want.wait}, []any{failed.Status, failed.RetryAfter}, code)
		require.ErrorIs(t, failed, io.EOF)
		for _, kind := range []error{channels.ErrUndeliverableNow, channels.ErrGone} {
			require.Equal(t, errors.Is(want.kind, kind), errors.Is(failed, kind), code)
		}
	}
	failed := &remote.Error{Status: http.StatusBadGateway, Err: io.EOF}
	codes.Classify(failed, 6)
	require.Equal(t, http.StatusBadGateway, failed.Status, "the status says that it is temporary")
}

func TestHosts(t *testing.T) {
	t.Parallel()
	trusts := web.Hosts([]string{"acme.com"}, "http://127.0.0.1:80/api")
	for address, want := range map[string]bool{
		"https://acme.com/a": true, "https://files.ACME.com:443/a": true, "http://127.0.0.1:80/b": true,
		"http://acme.com/a": false, "https://acme.com:8443/a": false, "https://evilacme.com/a": false, "https://acme.com.evil.org": false, "https://ana@acme.com/": false,
		"http://127.0.0.1:81/b": false, "https://127.0.0.1:80/b": false, "file:///etc/passwd": false, "/a": false,
	} {
		at, err := url.Parse(address)
		require.NoError(t, err)
		require.Equal(t, want, trusts(at), address)
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	elsewhere := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("called without trust") })
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/a":
			_, _ = io.WriteString(w, r.Header.Get("Authorization"))
		case "/moved":
			http.Redirect(w, r, "/a", http.StatusFound)
		case "/away":
			http.Redirect(w, r, elsewhere, http.StatusFound)
		case "/busy":
			http.Error(w, "", http.StatusServiceUnavailable)
		default:
			http.NotFound(w, r)
		}
	})
	files := web.NewFiles("acme", "Acme", 5*time.Second, web.Hosts(nil, base))
	files.Header = http.Header{"Authorization": {"Bearer t"}}
	for _, path := range []string{"/a", "/moved"} {
		body, err := files.Open(t.Context(), base+path)
		require.NoError(t, err)
		content, err := io.ReadAll(body)
		require.NoError(t, errors.Join(err, body.Close()))
		require.Equal(t, "Bearer t", string(content))
	}
	for address, why := range map[string]chat.Unreadable{
		elsewhere: "is not stored by Acme", ":": "is not stored by Acme", base + "/gone": "is no longer stored by Acme",
	} {
		_, err := files.Open(t.Context(), address)
		require.ErrorIs(t, err, why, address)
		require.Equal(t, strings.HasSuffix(address, "/gone"), errors.Is(err, web.ErrNotThere))
	}
	for path, status := range map[string]int{"/busy": http.StatusServiceUnavailable, "/away": 0} {
		_, err := files.Open(t.Context(), base+path)
		require.Equal(t, status, remote.As(err).Status, path)
	}
}
