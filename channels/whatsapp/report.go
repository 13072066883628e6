package whatsapp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	window = 24 * time.Hour // after a person's message, in which they can be written to
	// windowMargin is how long a call may take.
	windowMargin = time.Minute
	reportPoll   = 200 * time.Millisecond
)

var errNoStore = errors.New("the channel has no store")

func (p *platform) shared() (channels.Store, error) {
	if s := p.store.Load(); s != nil {
		return *s, nil
	}
	return nil, errNoStore
}

// slot is the cursor that has the last report of a group of messages. There are 65,536, so
// that they take a bounded space; of those sent within minutes hardly two share one.
func slot(key string) string { return "sent/" + key[:4] }

// reported records that a message was sent, for whoever waits for it.
func (p *platform) reported(ctx context.Context, key, id string) error {
	if len(key) != len(chat.Message{}.Key()) {
		return nil // not ours
	}
	s, err := p.shared()
	if err != nil {
		return err
	}
	return s.SetCursor(ctx, Name, slot(key), key+" "+id)
}

// History implements [chat.History] for a message that was sent without an answer. It waits
// for the report that the message was sent.
func (p *platform) History(ctx context.Context, at chat.Place, q chat.Query) ([]chat.Posted, error) {
	s, err := p.shared()
	if err != nil || q.ID == "" {
		return nil, err
	}
	key := chat.Message{ID: q.ID}.Key()
	until := time.Now().Add(p.o.ReportWait)
	for {
		report, err := s.Cursor(ctx, Name, slot(key))
		if err != nil {
			return nil, fmt.Errorf("look for a report: %w", err)
		}
		if id, found := strings.CutPrefix(report, key+" "); found {
			return []chat.Posted{{ID: id, Ours: true, Message: q.ID}}, nil
		}
		if time.Now().After(until) {
			return nil, nil
		}
		if !chat.Sleep(ctx, min(reportPoll, p.o.ReportWait)) {
			return nil, &remote.Error{Service: Name, Err: ctx.Err()}
		}
	}
}

// wrote records when a person wrote.
func (p *platform) wrote(ctx context.Context, person string, at time.Time) error {
	s, err := p.shared()
	if err != nil {
		return err
	}
	last, err := p.lastWrote(ctx, person)
	if err != nil || !at.After(last) {
		return err
	}
	return s.SetCursor(ctx, Name, "wrote/"+person, strconv.FormatInt(at.Unix(), 10))
}

// lastWrote returns when a person wrote; zero: unknown.
func (p *platform) lastWrote(ctx context.Context, person string) (time.Time, error) {
	s, err := p.shared()
	if err != nil {
		return time.Time{}, nil //nolint:nilerr // then WhatsApp decides
	}
	stored, err := s.Cursor(ctx, Name, "wrote/"+person)
	if err != nil || stored == "" {
		return time.Time{}, err
	}
	seconds, err := strconv.ParseInt(stored, 10, 64)
	if err != nil {
		return time.Time{}, nil //nolint:nilerr // another version's
	}
	return time.Unix(seconds, 0), nil
}

// checkWindow returns an error if a person can no longer be written to: WhatsApp takes such
// a message, and says only later that it was not sent.
func (p *platform) checkWindow(ctx context.Context, person string) error {
	last, err := p.lastWrote(ctx, person)
	if err != nil {
		return fmt.Errorf("look up when a person wrote: %w", err)
	}
	if last.IsZero() || time.Since(last) < window-windowMargin {
		return nil
	}
	return &remote.Error{Service: Name, Status: http.StatusBadRequest, Err: fmt.Errorf("%w: the person wrote more than 24 hours ago", channels.ErrUndeliverableNow)}
}
