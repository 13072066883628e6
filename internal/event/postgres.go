package event

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// notifyChannel is the channel that all processes listen on.
	notifyChannel = "holdfast_events"
	// payloadLimit is the maximum payload of NOTIFY, in bytes.
	payloadLimit = 7999
	// publishBacklog is how many payloads may wait to be sent.
	publishBacklog = 4096
	// publishBatch bounds the payloads of one statement.
	publishBatch   = 256
	publishTimeout = 5 * time.Second
)

// Postgres is a [Bus] between processes that share a database. Events published while
// the database is unavailable are lost, including [Done]: watchers that depend on the end
// also poll the store.
type Postgres struct {
	local *Local
	pool  *pgxpool.Pool
	queue chan notification
	log   *slog.Logger

	mu   sync.Mutex // keeps the pieces of an event together, in the order of their numbers
	next int64

	stop    context.CancelFunc
	running sync.WaitGroup
}

// notification is a payload. Number makes payloads distinct: NOTIFY drops duplicates.
type notification struct {
	Topic  string `json:"topic"`
	Number int64  `json:"n"`
	Event  Event  `json:"event"`
}

// NewPostgres connects to a database and returns once it listens. ctx only bounds this
// call; [Postgres.Close] closes the bus. A nil logger discards.
func NewPostgres(ctx context.Context, dsn string, log *slog.Logger) (*Postgres, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("open event bus: %w", err)
	}
	config.MaxConns = 2 // one listens, one sends
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open event bus: %w", err)
	}
	p := &Postgres{local: NewLocal(), pool: pool, queue: make(chan notification, publishBacklog), log: log}
	conn, err := p.listen(ctx)
	if err != nil {
		pool.Close()
		return nil, fmt.Errorf("open event bus: %w", err)
	}
	ctx, p.stop = context.WithCancel(context.WithoutCancel(ctx))
	p.running.Go(func() { p.receive(ctx, conn) })
	p.running.Go(func() { p.send(ctx) })
	return p, nil
}

// Close sends pending events, ends all subscriptions and disconnects.
func (p *Postgres) Close() error {
	p.stop()
	p.running.Wait()
	p.pool.Close()
	return p.local.Close()
}

// Publish implements [Bus]. Text too long for a payload is split; a long preview is cut.
func (p *Postgres) Publish(_ context.Context, topic string, e Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, piece := range split(topic, e) {
		p.next++
		offer(p.queue, notification{Topic: topic, Number: p.next, Event: piece}, e.Kind)
	}
}

// Subscribe implements [Bus].
func (p *Postgres) Subscribe(topic string) (<-chan Event, func()) { return p.local.Subscribe(topic) }

// split divides an event into events that each fit into a payload.
func split(topic string, e Event) []Event {
	payload, err := json.Marshal(notification{Topic: topic, Number: 1 << 62, Event: e})
	if err == nil && len(payload) <= payloadLimit {
		return []Event{e}
	}
	if len(e.Text) < 2*utf8.UTFMax {
		return nil
	}
	half := len(e.Text) / 2
	for half < len(e.Text) && !utf8.RuneStart(e.Text[half]) {
		half++
	}
	first, second := e, e
	first.Text, second.Text = e.Text[:half], e.Text[half:]
	if e.Kind != Text {
		return split(topic, first)
	}
	return append(split(topic, first), split(topic, second)...)
}

// send sends the queue to the database until ctx ends, then drains it.
func (p *Postgres) send(ctx context.Context) {
	for {
		select {
		case first := <-p.queue:
			p.notify(ctx, p.batch(first))
		case <-ctx.Done():
			for {
				select {
				case first := <-p.queue:
					p.notify(ctx, p.batch(first))
				default:
					return
				}
			}
		}
	}
}

// batch collects the queued payloads: under load, many of them share a round trip.
func (p *Postgres) batch(first notification) []string {
	var batch []string
	for next := first; ; {
		payload, err := json.Marshal(next)
		if err != nil {
			p.log.Error("event not encoded", "err", err)
		} else {
			batch = append(batch, string(payload))
		}
		if len(batch) == publishBatch {
			return batch
		}
		select {
		case next = <-p.queue:
		default:
			return batch
		}
	}
}

// notify sends payloads, even after ctx has ended: the last events matter most.
func (p *Postgres) notify(ctx context.Context, payloads []string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), publishTimeout)
	defer cancel()
	_, err := p.pool.Exec(ctx, `SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload`, notifyChannel, payloads)
	if err != nil {
		p.log.Warn("events lost", "count", len(payloads), "err", err)
	}
}

// listen returns a connection that listens.
func (p *Postgres) listen(ctx context.Context) (*pgxpool.Conn, error) {
	conn, err := p.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Exec(ctx, `LISTEN `+pgx.Identifier{notifyChannel}.Sanitize()); err != nil {
		conn.Release()
		return nil, err
	}
	return conn, nil
}

// receive publishes incoming events and reconnects, until ctx ends.
func (p *Postgres) receive(ctx context.Context, conn *pgxpool.Conn) {
	for {
		err := p.dispatch(ctx, conn)
		conn.Release()
		if ctx.Err() != nil {
			return
		}
		p.log.Warn("event bus disconnected", "err", err)
		if conn = p.relisten(ctx); conn == nil {
			return
		}
		p.log.Info("event bus connected")
	}
}

// relisten retries until it has a connection; nil once ctx has ended.
func (p *Postgres) relisten(ctx context.Context) *pgxpool.Conn {
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		conn, err := p.listen(ctx)
		if err == nil {
			return conn
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

// dispatch publishes incoming events of one connection until it breaks.
func (p *Postgres) dispatch(ctx context.Context, conn *pgxpool.Conn) error {
	for {
		received, err := conn.Conn().WaitForNotification(ctx)
		if err != nil {
			return errors.Join(err, conn.Conn().Close(context.WithoutCancel(ctx)))
		}
		var n notification
		if err := json.Unmarshal([]byte(received.Payload), &n); err != nil {
			p.log.Warn("invalid event", "err", err)
			continue
		}
		p.local.Publish(ctx, n.Topic, n.Event)
	}
}
