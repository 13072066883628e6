package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	// resumeLimit is how often the SDK asks for a broken stream of events before it
	// gives the session up. Without any, a proxy that ends idle streams would end
	// the session, and all calls with it. No call is sent again by this.
	resumeLimit = 40
	// listenLimit is how long a server has to grant the stream of its notifications.
	listenLimit = 5 * time.Second
	// goodbye is how long the end of a session may take.
	goodbye     = 2 * time.Second
	detailLimit = 300 // bytes of what a server says about a refusal
	bodyLimit   = 64 << 10
)

// link is a connection over HTTP. It is a transport, connected once, and what its
// requests go through.
type link struct {
	server   *server
	client   *http.Transport
	ctx      context.Context // ends with the connection
	cancel   context.CancelFunc
	conn     atomic.Pointer[sdk.Connection]
	listened atomic.Bool  // the stream of notifications was asked for
	signs    atomic.Int64 // of life: answers, and what came of their bodies
}

func newLink(s *server) *link {
	ctx, cancel := context.WithCancel(context.Background())
	return &link{server: s, client: http.DefaultTransport.(*http.Transport).Clone(), ctx: ctx, cancel: cancel}
}

// Connect implements [sdk.Transport].
func (l *link) Connect(ctx context.Context) (sdk.Connection, error) {
	transport := &sdk.StreamableClientTransport{
		Endpoint: l.server.URL, MaxRetries: resumeLimit, MaxEventSize: frameLimit,
		HTTPClient: &http.Client{Transport: l, CheckRedirect: sameHost},
	}
	conn, err := transport.Connect(ctx)
	if err == nil {
		l.conn.Store(&conn)
	}
	return conn, err
}

// sameHost keeps what is secret in headers from being sent elsewhere.
func sameHost(request *http.Request, via []*http.Request) error {
	if request.URL.Host != via[0].URL.Host || request.URL.Scheme != via[0].URL.Scheme || len(via) > 5 {
		return fmt.Errorf("it redirects to %s; its URL needs to be corrected in the configuration", request.URL.Host)
	}
	return nil
}

// close implements transport.
func (l *link) close(session *sdk.ClientSession) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		// It tells the server, and waits for calls; there is nobody to tell an error.
		_ = session.Close()
	}()
	select {
	case <-done:
	case <-time.After(goodbye):
	}
	l.abort()
}

// abort implements transport.
func (l *link) abort() {
	l.cancel()
	if conn := l.conn.Load(); conn != nil {
		_ = (*conn).Close() // its goodbye fails, as requests do now
	}
	l.client.CloseIdleConnections()
}

// why implements transport.
func (l *link) why() string { return "" }

// heard implements transport.
func (l *link) heard() int64 { return l.signs.Load() }

// RoundTrip implements [http.RoundTripper]. What fails is a *remote.Error, which
// the SDK takes for the failure of that request alone: its own reading of answers
// ends the whole session.
func (l *link) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodGet && l.listened.CompareAndSwap(false, true) {
		return l.listen(request)
	}
	return l.send(request)
}

// listen asks for the stream of notifications. A server that does not grant it has
// none: the SDK would wait for it without bound, and nothing else depends on it.
func (l *link) listen(request *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(request.Context())
	impatient := time.AfterFunc(listenLimit, cancel)
	response, err := l.send(request.WithContext(ctx))
	if err == nil && impatient.Stop() && response.StatusCode == http.StatusOK {
		response.Body = &body{ReadCloser: response.Body, signs: &l.signs, release: cancel}
		return response, nil
	}
	if err == nil {
		response.Body.Close()
	}
	cancel()
	return &http.Response{
		StatusCode: http.StatusMethodNotAllowed, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: http.NoBody, Request: request,
	}, nil
}

func (l *link) send(request *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(request.Context())
	stop := context.AfterFunc(l.ctx, cancel) //nolint:contextcheck // the end of the connection ends the request, too
	release := func() { stop(); cancel() }
	var once sync.Once // the transport may try several connections
	count := func(httptrace.GotConnInfo) { once.Do(func() { sentMark(ctx).Add(1) }) }
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: count})
	sent := request.Clone(traced)
	for name, value := range l.server.Headers {
		sent.Header.Set(name, value)
	}
	response, err := l.client.RoundTrip(sent)
	if err == nil {
		l.signs.Add(1)
		response.Body = &body{ReadCloser: response.Body, signs: &l.signs, release: release}
		return l.answer(request, response)
	}
	release()
	if request.Context().Err() != nil {
		return nil, request.Context().Err()
	}
	return nil, l.server.failed(0, 0, err)
}

// answer reads what came, except for a stream of events.
func (l *link) answer(request *http.Request, response *http.Response) (*http.Response, error) {
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if response.StatusCode < http.StatusBadRequest && kind == "text/event-stream" {
		return response, nil
	}
	limit := frameLimit
	if response.StatusCode >= http.StatusBadRequest {
		limit = bodyLimit
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, int64(limit)+1))
	response.Body.Close()
	switch {
	case request.Context().Err() != nil:
		return nil, request.Context().Err()
	case forgotten(request, response, data):
		if request.Method == http.MethodPost {
			sentMark(request.Context()).Add(-1)
		}
		// With a body the SDK would take it for an answer, and keep the session.
		response.StatusCode, response.Body = http.StatusNotFound, http.NoBody
		return response, nil
	case response.StatusCode >= http.StatusBadRequest && !isAnswer(response, data):
		return nil, l.refused(request, response, kind, data)
	case err != nil:
		return nil, l.server.failed(0, 0, err)
	case len(data) > limit:
		return nil, l.server.failed(0, 0, fmt.Errorf("its answer is larger than %d MB", limit>>20))
	}
	response.Body = io.NopCloser(bytes.NewReader(data))
	return response, nil
}

// forgotten reports whether the server does not know the session any more. Many
// answer with 400 and an error of their own instead of the 404 of the protocol.
func forgotten(request *http.Request, response *http.Response, data []byte) bool {
	if request.Header.Get("Mcp-Session-Id") == "" {
		return false
	}
	const codeOfItsOwn = -32000
	failed := protocolError(data)
	return response.StatusCode == http.StatusNotFound ||
		response.StatusCode == http.StatusBadRequest && failed != nil && failed.Code == codeOfItsOwn
}

// isAnswer reports whether a response that is no success is the answer to a
// request: an error in JSON-RPC.
func isAnswer(response *http.Response, data []byte) bool {
	if response.StatusCode != http.StatusBadRequest && response.StatusCode != http.StatusNotFound {
		return false
	}
	message, err := jsonrpc.DecodeMessage(data)
	answer, ok := message.(*jsonrpc.Response)
	return err == nil && ok && answer.Error != nil
}

// protocolError is the JSON-RPC error in a body, or nil.
func protocolError(data []byte) *jsonrpc.Error {
	var answer struct {
		Version string         `json:"jsonrpc"`
		Error   *jsonrpc.Error `json:"error"`
	}
	_ = json.Unmarshal(data, &answer) // what is no JSON has no version either
	if answer.Version == "" {
		return nil
	}
	return answer.Error
}

// refused turns a response that is no success into an error. A request that was
// refused for what it is was not served.
func (l *link) refused(request *http.Request, response *http.Response, kind string, data []byte) error {
	if response.StatusCode < http.StatusInternalServerError && request.Method == http.MethodPost {
		sentMark(request.Context()).Add(-1)
	}
	detail := ""
	if kind == "text/plain" || kind == "application/json" {
		detail = describe(string(data[:min(len(data), detailLimit)]))
	}
	err := errors.New(cmp.Or(strings.ToValidUTF8(detail, ""), http.StatusText(response.StatusCode), "no further explanation"))
	return l.server.failed(response.StatusCode, remote.RetryAfter(response.Header, time.Now()), err)
}

// body is a response's, whose end releases what the request holds.
type body struct {
	io.ReadCloser
	signs   *atomic.Int64 // counts what is read
	release func()
}

func (b *body) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	if n > 0 {
		b.signs.Add(1)
	}
	return n, err
}

func (b *body) Close() error {
	defer b.release()
	return b.ReadCloser.Close()
}

// bare is an error without the URL, which is known and may have a key in it.
func bare(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}
