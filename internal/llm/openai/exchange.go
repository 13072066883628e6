package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"time"

	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	// bodyLimit bounds answers that are read as a whole.
	bodyLimit = 64 << 20
	// drainLimit and drainTime bound reading a stream to its end so that its
	// connection can be reused.
	drainLimit = 4 << 10
	drainTime  = 50 * time.Millisecond
	// graceTime is how long a stream may be silent after its finish reason.
	graceTime = 5 * time.Second
	// connectTimeout is how long a provider has to accept a connection. It is short because
	// the user is told only then that the provider is away; there are further attempts.
	connectTimeout = 4 * time.Second
)

// fields are JSON fields of a request message.
type fields map[string]json.RawMessage

// set stores a value that always marshals.
func (f fields) set(name string, value any) { f[name], _ = json.Marshal(value) }

// exchange is one HTTP call made for go-openai, as its HTTPDoer. It adds what the
// library has no setting for: request fields that its types lack, a limit on
// silence, the Retry-After header, comments in streams, and servers that answer
// as a whole. Except for the timer, only the goroutine of the call uses it.
type exchange struct {
	client   *http.Client
	noStream bool
	extra    map[int]fields // replace those of the request's messages, by index
	images   bool           // the request has images
	whole    bool           // the answer is no stream, and is read as it is

	timer   *time.Timer // ends the call after silence
	silence time.Duration

	sent       bool
	retryAfter time.Duration
	body       io.ReadCloser // of a stream
	ended      bool          // body was read to its end
	done       bool          // the stream said that it is complete
}

// Do implements go-openai's HTTPDoer.
func (x *exchange) Do(req *http.Request) (*http.Response, error) {
	if err := x.edit(req); err != nil {
		return nil, err
	}
	x.sent = true
	resp, err := x.client.Do(req)
	if err != nil {
		return nil, err
	}
	x.timer.Reset(x.silence)
	x.retryAfter = remote.RetryAfter(resp.Header, time.Now())
	x.body = resp.Body
	resp.Body = x
	if resp.StatusCode >= 400 || req.Method == http.MethodGet || x.whole {
		resp.Body = readCloser{io.LimitReader(x, bodyLimit), x}
		return resp, nil
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if x.noStream || kind == "application/json" {
		err = x.streamWhole(resp)
	} else {
		resp.Body = readCloser{&eventReader{lines: bufio.NewReader(x), x: x}, x}
	}
	return resp, err
}

// edit changes the decoded body of a request where go-openai's types cannot
// express what the provider needs.
func (x *exchange) edit(req *http.Request) error {
	if len(x.extra) == 0 && (!x.noStream || req.Body == nil) {
		return nil
	}
	var body fields
	if err := json.NewDecoder(req.Body).Decode(&body); err != nil {
		return err
	}
	var messages []fields
	if err := json.Unmarshal(body["messages"], &messages); err != nil {
		return err
	}
	for i, extra := range x.extra {
		maps.Copy(messages[i], extra)
	}
	body.set("messages", messages)
	if x.noStream {
		body.set("stream", false)
		delete(body, "stream_options")
		req.Header.Set("Accept", "application/json")
	}
	changed, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req.ContentLength = int64(len(changed))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(changed)), nil }
	req.Body, err = req.GetBody()
	return err
}

// streamWhole turns a whole answer into a stream of one event.
func (x *exchange) streamWhole(resp *http.Response) error {
	defer x.Close()
	answer, err := io.ReadAll(io.LimitReader(x, bodyLimit))
	if err != nil {
		return err
	}
	var event bytes.Buffer
	event.WriteString("data: ")
	if err := json.Compact(&event, answer); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	event.WriteString("\n\ndata: [DONE]\n\n")
	resp.Body, x.done = io.NopCloser(&event), true
	return nil
}

// Read reads the answer and restarts the timer when something arrives.
func (x *exchange) Read(p []byte) (int, error) {
	n, err := x.body.Read(p)
	if n > 0 {
		x.timer.Reset(x.silence)
	}
	x.ended = x.ended || err == io.EOF
	return n, err
}

// Close ends the answer.
func (x *exchange) Close() error { return x.body.Close() }

// expect shortens how long the rest of the answer may be silent.
func (x *exchange) expect(silence time.Duration) {
	x.silence = min(x.silence, silence)
	x.timer.Reset(x.silence)
}

// drain reads the few bytes after a stream's last event: a connection with unread
// data is not reused.
func (x *exchange) drain() {
	if !x.ended {
		x.expect(drainTime)
		_, _ = io.CopyN(io.Discard, x, drainLimit)
	}
}

type readCloser struct {
	io.Reader
	io.Closer
}

// eventReader passes on the data lines and empty lines of a stream. It drops
// comments and other fields: go-openai would take them for parts of an error.
type eventReader struct {
	lines *bufio.Reader
	x     *exchange
	line  []byte
	err   error
}

func (e *eventReader) Read(p []byte) (int, error) {
	for len(e.line) == 0 {
		if e.err != nil {
			return 0, e.err
		}
		e.line, e.err = e.lines.ReadBytes('\n')
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

// newHTTPClient returns a client that keeps as many connections as there may be
// sessions, and leaves all waiting to the call's timers.
func newHTTPClient() *http.Client {
	dialer := &net.Dialer{Timeout: connectTimeout, KeepAlive: 30 * time.Second}
	return &http.Client{Transport: &http.Transport{
		Proxy:               http.ProxyFromEnvironment, // never used for loopback
		DialContext:         dialer.DialContext,
		ForceAttemptHTTP2:   true,
		MaxIdleConns:        256,
		MaxIdleConnsPerHost: 256,
		IdleConnTimeout:     90 * time.Second,
		TLSHandshakeTimeout: connectTimeout,
		DisableCompression:  true, // some servers hold back compressed streams
	}}
}
