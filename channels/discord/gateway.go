package discord

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/chat/web"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// What is to be delivered to us.
const (
	intentGuilds         = 1 << 0
	intentGuildMessages  = 1 << 9
	intentDirectMessages = 1 << 12
	intentContent        = 1 << 15 // privileged: without it, only messages that mention us have a text

	intents = intentGuilds | intentGuildMessages | intentDirectMessages
)

// fewIdentifies is below how many of the day's identifies they are spread over the rest of it.
const fewIdentifies = 100

// gateway keeps a session with Discord, over one connection after the other.
type gateway struct {
	*platform
	in      chat.Inbox
	feed    *feed
	running sync.WaitGroup // what was begun for events

	// Of the connecting goroutine.
	session    session
	identified time.Time // when the last session was begun
	content    bool      // whether to ask for the Message Content intent
	registered bool      // the slash commands are
}

// session is what it takes to resume; the zero value is none.
type session struct {
	id, url string
	seq     atomic.Int64 // of the last event
}

// Receive implements [chat.Platform].
func (p *platform) Receive(ctx context.Context, in chat.Inbox) error {
	if err := in.Ready(ctx); err != nil {
		return err
	}
	feed, err := openFeed(ctx, p, in)
	if err != nil {
		return err
	}
	g := &gateway{platform: p, in: in, feed: feed, content: true}
	err = chat.Retry(ctx, p.log, "receiving from discord", g.connect)
	if drained := in.Drain(); drained != nil {
		p.log.Warn("connection closed", "err", drained)
	} else {
		feed.running.Wait()
		g.running.Wait()
	}
	feed.save(context.WithoutCancel(ctx))
	return err
}

// connect keeps a connection until it fails. A session that was lost is begun anew by the
// next one.
func (g *gateway) connect(ctx context.Context) error {
	address, err := g.address(ctx)
	if err != nil {
		return err
	}
	conn, err := dial(ctx, address)
	if err != nil {
		g.session.url = "" // the next attempt asks for it, and resumes there
		return err
	}
	defer conn.close()
	err = conn.serve(ctx, g)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return g.closed(err)
}

// address returns the gateway's address once a session may be begun or resumed there.
func (g *gateway) address(ctx context.Context) (string, error) {
	if g.session.url != "" {
		return g.session.url, nil
	}
	var answer struct {
		URL   string `json:"url"`
		Limit struct {
			Remaining  int   `json:"remaining"`
			ResetAfter int64 `json:"reset_after"`
		} `json:"session_start_limit"`
	}
	if err := g.call(ctx, request{method: http.MethodGet, route: "/gateway/bot"}, &answer); err != nil {
		return "", err
	}
	if g.session.id != "" {
		return answer.URL, nil
	}
	reset, pause := time.Duration(answer.Limit.ResetAfter)*time.Millisecond, g.timing.identify
	switch left := answer.Limit.Remaining; {
	case left <= 0:
		return "", &remote.Error{
			Service: Name, Status: http.StatusTooManyRequests, RetryAfter: max(reset, g.timing.identify),
			Err: errors.New("no sessions are left for today"),
		}
	case left < fewIdentifies:
		pause = max(pause, reset/time.Duration(left))
	}
	if !chat.Sleep(ctx, time.Until(g.identified.Add(pause))) {
		return "", ctx.Err()
	}
	return answer.URL, nil
}

// opening is what begins a session, or resumes it if there is one.
func (g *gateway) opening() frame {
	if g.session.id != "" {
		return frameOf(opResume, map[string]any{"token": g.o.Token, "session_id": g.session.id, "seq": g.session.seq.Load()})
	}
	g.identified = time.Now()
	wanted := intents
	if g.content {
		wanted |= intentContent
	}
	return frameOf(opIdentify, map[string]any{
		"token": g.o.Token, "intents": wanted,
		"properties": map[string]string{"os": "linux", "browser": "holdfast", "device": "holdfast"},
	})
}

// ended forgets the session: it cannot be resumed.
func (g *gateway) ended() {
	g.session.id, g.session.url = "", ""
	g.session.seq.Store(0)
}

// The codes with which Discord closes a connection that are not simply tried again.
const (
	closedNormally   = 1000
	closedGoingAway  = 1001
	notAuthenticated = 4003
	wrongToken       = 4004
	wrongSeq         = 4007
	sessionTimedOut  = 4009
	wrongShard       = 4010
	tooManyServers   = 4011
	wrongVersion     = 4012
	wrongIntents     = 4013
	deniedIntents    = 4014
)

// closed returns the error of a connection that ended. It does not repeat the token.
func (g *gateway) closed(err error) error {
	why := closeCode(err)
	err = web.RedactError(err, g.o.Token)
	failed := &remote.Error{Service: Name, Status: http.StatusServiceUnavailable, Err: err}
	switch why {
	case closedNormally, closedGoingAway, notAuthenticated, wrongSeq, sessionTimedOut:
		g.ended()
	case wrongToken:
		g.ended()
		failed.RetryAfter, failed.Err = g.timing.operator, fmt.Errorf("%w: %w", err, errWrongToken)
	case wrongIntents, deniedIntents:
		g.ended()
		if !g.content {
			failed.RetryAfter = g.timing.operator
			break
		}
		g.content = false
		g.log.Error("discord withholds the text of messages that do not mention the bot: " + textContentIntent +
			"; until then only mentions and direct messages are answered")
	case wrongShard, tooManyServers, wrongVersion:
		g.ended()
		failed.RetryAfter, failed.Err = g.timing.operator, fmt.Errorf("%w: the bot is in too many servers, or this version is too old", err)
	}
	return failed
}

// gatewayURL adds what every connection asks for to the gateway's address.
func gatewayURL(address string) (string, error) {
	at, err := url.Parse(address)
	if err != nil || at.Host == "" || !strings.HasPrefix(at.Scheme, "ws") {
		return "", fmt.Errorf("discord's gateway has no valid address: %q", address)
	}
	at.RawQuery = "v=10&encoding=json"
	return at.String(), nil
}
