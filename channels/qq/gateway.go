package qq

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/chat/web"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// The operations of frames.
const (
	opDispatch       = 0
	opHeartbeat      = 1
	opIdentify       = 2
	opResume         = 6
	opReconnect      = 7
	opInvalidSession = 9
	opHello          = 10
	opHeartbeatAck   = 11
	opCallbackAck    = 12
	opValidation     = 13
)

const (
	intents      = 1 << 25 // direct messages, and those in groups that mention the bot
	maxFrame     = 1 << 20
	helloTimeout = 15 * time.Second
	maxHeartbeat = 5 * time.Minute
	// cursorName is the cursor that has the session and the last event that was accepted.
	cursorName = "session"
)

// frame is what the gateway and webhooks carry.
type frame struct {
	Op   int             `json:"op"`
	Data json.RawMessage `json:"d,omitempty"`
	Seq  int64           `json:"s,omitempty"`
	Type string          `json:"t,omitempty"`
}

// gateway receives over QQ's gateway. An event counts as received once it is accepted: what
// was not is delivered again when the session is resumed.
type gateway struct {
	*platform
	in      chat.Inbox
	cursors chat.Cursors // nil: sessions do not survive a restart

	mu       sync.Mutex
	session  string
	accepted int64 // the last event before which all are accepted
}

// receiveSocket receives over the gateway until ctx ends.
func (p *platform) receiveSocket(ctx context.Context, in chat.Inbox) error {
	g := &gateway{platform: p, in: in, cursors: in.Cursors()}
	if err := chat.Retry(ctx, p.o.Logger, "reading the cursor", g.restore); err != nil {
		return err
	}
	err := chat.Retry(ctx, p.o.Logger, "receiving from qq", g.connect)
	if drained := in.Drain(); drained != nil {
		p.o.Logger.Warn("connection closed", "err", drained)
	}
	return err
}

func (g *gateway) restore(ctx context.Context) error {
	if g.cursors == nil {
		return nil
	}
	stored, err := g.cursors.Read(ctx, cursorName)
	session, seq, found := strings.Cut(stored, " ")
	if n, invalid := strconv.ParseInt(seq, 10, 64); found && invalid == nil {
		g.session, g.accepted = session, n
	}
	return err
}

// connect keeps a connection until it ends, which is always an error.
func (g *gateway) connect(ctx context.Context) (err error) {
	var gate struct {
		URL string `json:"url"`
	}
	if err := g.call(ctx, http.MethodGet, "/gateway", "", nil, &gate); err != nil {
		return err
	}
	if !strings.HasPrefix(gate.URL, "wss://") && strings.HasPrefix(g.o.APIURL, "https://") {
		return &remote.Error{Service: Name, Err: errors.New("the gateway's address is not encrypted")}
	}
	socket, err := web.Dial(ctx, Name, gate.URL, maxFrame)
	if err != nil {
		return err
	}
	c := &connection{gateway: g, socket: socket, done: map[int64]bool{}}
	ctx, cancel := context.WithCancel(ctx)
	c.cancel = cancel
	var running sync.WaitGroup
	running.Go(func() {
		<-ctx.Done()
		_ = socket.Close()
	})
	defer running.Wait()
	defer cancel()
	return c.ended(c.run(ctx, &running))
}

func (g *gateway) forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.session, g.accepted = "", 0
}

// moveTo records that a session's events are accepted up to one. If that cannot be stored,
// some are delivered again after a restart.
func (g *gateway) moveTo(ctx context.Context, session string, seq int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if session != g.session {
		return
	}
	g.accepted = max(g.accepted, seq)
	if g.cursors == nil {
		return
	}
	if err := g.cursors.Store(context.WithoutCancel(ctx), cursorName, session+" "+strconv.FormatInt(g.accepted, 10)); err != nil {
		g.o.Logger.Warn("cursor not stored", "err", err)
	}
}
