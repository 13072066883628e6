package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	// bodyLimit bounds answers that are read as a whole.
	bodyLimit = 64 << 20
	// drainLimit and drainTime bound what is spent on reading a stream's end, so
	// that its connection can be used again.
	drainLimit = 4 << 10
	drainTime  = 50 * time.Millisecond
	// graceTime is how long a stream may be silent after its finish reason.
	graceTime = 5 * time.Second
)

type exchangeKey struct{}

// exchange is what is known of one call besides what the library tells. Only the
// goroutine of the call uses it, but for the timer.
type exchange struct {
	timer    *time.Timer   // nil when nobody watches
	patience time.Duration // how long nothing may arrive

	edits  edits // of the request
	images bool  // the request has some

	copy       io.Writer // of an answer that is no stream; nil for none
	sent       bool
	retryAfter time.Duration
	body       io.ReadCloser // of a stream
	ended      bool          // the body was read to its end
	done       bool          // the stream said that it is complete
}

// watch calls stalled once nothing has arrived for d.
func (x *exchange) watch(d time.Duration, stalled func()) {
	x.patience = d
	x.timer = time.AfterFunc(d, stalled)
}

// expect changes how long nothing may arrive, from now on.
func (x *exchange) expect(d time.Duration) {
	x.patience = min(x.patience, d)
	x.alive()
}

func (x *exchange) alive() {
	if x.timer != nil {
		x.timer.Reset(x.patience)
	}
}

// drain reads the little that comes after a stream's last event: a connection
// with an unread end is not used again.
func (x *exchange) drain() {
	if x.body != nil && !x.ended {
		x.expect(drainTime)
		_, _ = io.CopyN(io.Discard, x.body, drainLimit)
	}
}

// doer stands between the library and the network: the library drops response
// headers on errors, cannot say all that is to be said, trips over comments in
// streams, and knows only OpenAI's fields of an answer.
type doer struct{ client *http.Client }

func (d doer) Do(req *http.Request) (*http.Response, error) {
	x, ok := req.Context().Value(exchangeKey{}).(*exchange)
	if !ok {
		return nil, fmt.Errorf("request to %s outside a call", req.URL.Redacted())
	}
	if len(x.edits) > 0 {
		if err := rewrite(req, x.edits); err != nil {
			return nil, err
		}
	}
	x.sent = true
	resp, err := d.client.Do(req)
	if err != nil {
		return nil, err
	}
	x.alive()
	x.retryAfter = remote.RetryAfter(resp.Header, time.Now())
	body := &watchedBody{body: resp.Body, x: x}
	if resp.StatusCode >= 400 || req.Header.Get("Accept") != "text/event-stream" {
		answer := io.LimitReader(body, bodyLimit)
		if x.copy != nil {
			answer = io.TeeReader(answer, x.copy)
		}
		resp.Body = readCloser{answer, body}
		return resp, nil
	}
	x.body = body
	var events io.Reader = &eventReader{r: bufio.NewReader(body), x: x}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind == "application/json" {
		events = &wholeAnswer{r: io.LimitReader(body, bodyLimit), x: x}
	}
	resp.Body = readCloser{events, body}
	return resp, nil
}

type readCloser struct {
	io.Reader
	io.Closer
}

// watchedBody tells its exchange of all that arrives.
type watchedBody struct {
	body io.ReadCloser
	x    *exchange
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	if n > 0 {
		b.x.alive()
	}
	b.x.ended = b.x.ended || err == io.EOF
	return n, err
}

func (b *watchedBody) Close() error { return b.body.Close() }

// eventReader passes on only the lines of a stream that carry data, and the
// empty ones that end an event. Comments and other fields are dropped.
type eventReader struct {
	r    *bufio.Reader
	x    *exchange
	line []byte
	err  error
}

func (e *eventReader) Read(p []byte) (int, error) {
	for len(e.line) == 0 {
		if e.err != nil {
			return 0, e.err
		}
		e.line, e.err = e.r.ReadBytes('\n')
		if errors.Is(e.err, io.EOF) && len(e.line) > 0 {
			e.line = append(e.line, '\n')
		}
		data, found := bytes.CutPrefix(bytes.TrimSpace(e.line), []byte("data:"))
		if !found && len(data) > 0 {
			e.line = nil
		}
		e.x.done = e.x.done || found && string(bytes.TrimSpace(data)) == "[DONE]"
	}
	n := copy(p, e.line)
	e.line = e.line[n:]
	return n, nil
}

// wholeAnswer turns the answer of a server that did not stream, though asked to,
// into a stream of one event.
type wholeAnswer struct {
	r    io.Reader
	x    *exchange
	text *bytes.Reader
}

func (w *wholeAnswer) Read(p []byte) (int, error) {
	if w.text == nil {
		answer, err := io.ReadAll(w.r)
		if err != nil {
			return 0, err
		}
		var event bytes.Buffer
		event.WriteString("data: ")
		if err := json.Compact(&event, answer); err != nil {
			return 0, fmt.Errorf("read the answer: %w", err)
		}
		event.WriteString("\n\ndata: [DONE]\n\n")
		w.text = bytes.NewReader(event.Bytes())
		w.x.done = true
	}
	return w.text.Read(p)
}

// rewrite changes the body of a request.
func rewrite(req *http.Request, changes edits) error {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return err
	}
	changed := changes.apply(body)
	req.ContentLength = int64(len(changed))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(changed)), nil }
	req.Body, err = req.GetBody()
	return err
}

// newHTTPClient returns a client that keeps as many connections as there may be
// sessions, and leaves all waiting to the call's own watch.
func newHTTPClient() *http.Client {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Client{Transport: &http.Transport{
		Proxy:               http.ProxyFromEnvironment, // never used for loopback
		DialContext:         dialer.DialContext,
		ForceAttemptHTTP2:   true,
		MaxIdleConns:        256,
		MaxIdleConnsPerHost: 256,
		IdleConnTimeout:     90 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second,
		DisableCompression:  true, // some servers hold back compressed streams
	}}
}
