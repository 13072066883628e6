package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	// resumeLimit is how often the SDK reconnects a broken event stream before it
	// closes the session. Without it, a proxy that closes idle streams would end the
	// session and all calls. It does not resend calls.
	resumeLimit  = 40
	listenLimit  = 5 * time.Second // for the server to open its notification stream
	closeTimeout = 2 * time.Second
	detailLimit  = 300 // bytes of a server's error message
	bodyLimit    = 64 << 10
)

// link is a connection over HTTP. It is a transport, connected once, and the round
// tripper of its requests.
type link struct {
	server   *server
	client   *http.Transport
	ctx      context.Context // ends with the connection
	cancel   context.CancelFunc
	conn     atomic.Pointer[sdk.Connection]
	listened atomic.Bool  // the notification stream was requested
	received atomic.Int64 // responses, and reads of their bodies
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

// sameHost refuses redirects to other hosts, which must not get the headers' secrets.
func sameHost(request *http.Request, via []*http.Request) error {
	if request.URL.Host != via[0].URL.Host || request.URL.Scheme != via[0].URL.Scheme || len(via) > 5 {
		return fmt.Errorf("the server redirects to %s; correct its URL in the configuration", request.URL.Host)
	}
	return nil
}

// close implements transport.
func (l *link) close(session *sdk.ClientSession) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = session.Close() // notifies the server and waits for calls
	}()
	select {
	case <-done:
	case <-time.After(closeTimeout):
	}
	l.abort()
}

// abort implements transport.
func (l *link) abort() {
	l.cancel()
	if conn := l.conn.Load(); conn != nil {
		_ = (*conn).Close() // requests fail by now, including its own
	}
	l.client.CloseIdleConnections()
}

// why implements transport.
func (l *link) why() string { return "" }

// activity implements transport.
func (l *link) activity() int64 { return l.received.Load() }

// RoundTrip implements [http.RoundTripper]. It returns a *remote.Error for failed
// responses, so that only the request fails: the SDK would end the whole session.
func (l *link) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodGet && l.listened.CompareAndSwap(false, true) {
		return l.listen(request)
	}
	return l.send(request)
}

// listen requests the notification stream, which is optional. It reports a server
// that does not open it in time as one without: the SDK would wait forever.
func (l *link) listen(request *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(request.Context())
	impatient := time.AfterFunc(listenLimit, cancel)
	response, err := l.send(request.WithContext(ctx))
	if err == nil && impatient.Stop() && response.StatusCode == http.StatusOK {
		response.Body = &body{ReadCloser: response.Body, received: &l.received, release: cancel}
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
	stop := context.AfterFunc(l.ctx, cancel) //nolint:contextcheck // the end of the connection ends the request
	release := func() { stop(); cancel() }
	var once sync.Once // the transport may use several connections
	count := func(httptrace.GotConnInfo) { once.Do(func() { sentMark(ctx).Add(1) }) }
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: count})
	sent := request.Clone(traced)
	for name, value := range l.server.Headers {
		sent.Header.Set(name, value)
	}
	response, err := l.client.RoundTrip(sent)
	if err == nil {
		l.received.Add(1)
		response.Body = &body{ReadCloser: response.Body, received: &l.received, release: release}
		return l.answer(request, response)
	}
	release()
	if request.Context().Err() != nil {
		return nil, request.Context().Err()
	}
	return nil, l.server.failed(0, 0, err)
}

// answer reads a response, unless it is an event stream, and checks it.
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
	case sessionUnknown(request, response, data):
		if request.Method == http.MethodPost {
			sentMark(request.Context()).Add(-1)
		}
		// With a body, the SDK would take it for an answer and keep the session.
		response.StatusCode, response.Body = http.StatusNotFound, http.NoBody
		return response, nil
	case response.StatusCode >= http.StatusBadRequest && !isAnswer(response, data):
		return nil, l.refused(request, response, kind, data)
	case err != nil:
		return nil, l.server.failed(0, 0, err)
	case len(data) > limit:
		return nil, l.server.failed(0, 0, fmt.Errorf("the response is larger than %d MB", limit>>20))
	}
	response.Body = io.NopCloser(bytes.NewReader(data))
	return response, nil
}

// sessionUnknown reports whether the server no longer knows the session. Many answer
// 400 with a server-defined error instead of the protocol's 404.
func sessionUnknown(request *http.Request, response *http.Response, data []byte) bool {
	if request.Header.Get("Mcp-Session-Id") == "" {
		return false
	}
	const serverDefined = -32000
	failed := protocolError(data)
	return response.StatusCode == http.StatusNotFound ||
		response.StatusCode == http.StatusBadRequest && failed != nil && failed.Code == serverDefined
}

// isAnswer reports whether an error response is a JSON-RPC error, the answer to a
// request.
func isAnswer(response *http.Response, data []byte) bool {
	if response.StatusCode != http.StatusBadRequest && response.StatusCode != http.StatusNotFound {
		return false
	}
	message, err := jsonrpc.DecodeMessage(data)
	answer, ok := message.(*jsonrpc.Response)
	return err == nil && ok && answer.Error != nil
}

// protocolError returns the JSON-RPC error in a body, or nil.
func protocolError(data []byte) *jsonrpc.Error {
	var answer struct {
		Version string         `json:"jsonrpc"`
		Error   *jsonrpc.Error `json:"error"`
	}
	_ = json.Unmarshal(data, &answer) // invalid JSON has no version
	if answer.Version == "" {
		return nil
	}
	return answer.Error
}

// refused converts an error response. A request refused with 4xx was not processed.
func (l *link) refused(request *http.Request, response *http.Response, kind string, data []byte) error {
	if response.StatusCode < http.StatusInternalServerError && request.Method == http.MethodPost {
		sentMark(request.Context()).Add(-1)
	}
	detail := ""
	if kind == "text/plain" || kind == "application/json" {
		detail = describe(string(data[:min(len(data), detailLimit)]))
	}
	return remote.Rejected("mcp "+l.server.Name, response, strings.ToValidUTF8(detail, ""))
}

// body is a response body that counts reads and releases the request on Close.
type body struct {
	io.ReadCloser
	received *atomic.Int64
	release  func()
}

func (b *body) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	if n > 0 {
		b.received.Add(1)
	}
	return n, err
}

func (b *body) Close() error {
	defer b.release()
	return b.ReadCloser.Close()
}
