package telegramtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"
)

const (
	kept  = 24 * time.Hour     // how long updates are kept
	quiet = 7 * 24 * time.Hour // after how long updates are numbered anew
	most  = 100                // updates of an answer
)

// enqueue queues an update. The lock is held.
func (s *Server) enqueue(payload map[string]any, chat int64) *Delivery {
	s.lastUpdate++
	if s.now().Sub(s.lastAt) >= quiet {
		s.lastUpdate = 1 + rand.Int64N(1_000_000_000) //nolint:gosec // a test's
	}
	s.lastAt = s.now()
	payload["update_id"] = s.lastUpdate
	encoded, err := json.Marshal(payload)
	if err != nil {
		panic(err) // a test's payload
	}
	d := &Delivery{
		ID: s.lastUpdate, payload: encoded, chat: chat, at: s.now().Unix(), told: make(chan struct{}), done: make(chan struct{}),
	}
	if m, is := payload["message"].(*Message); is {
		d.Message = *m
	}
	s.queue = append(s.queue, d)
	s.Changed()
	return d
}

// expire forgets what is too old. The lock is held.
func (s *Server) expire() {
	oldest := s.now().Add(-kept).Unix()
	s.queue = slices.DeleteFunc(s.queue, func(d *Delivery) bool { return d.at < oldest })
}

// Pending returns how many updates are not confirmed.
func (s *Server) Pending() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queue)
}

// getUpdates is the method of that name. Another poll ends this one.
func (s *Server) getUpdates(ctx context.Context, a arguments) any {
	s.mu.Lock()
	if s.webhook.url != "" {
		defer s.mu.Unlock()
		return refused(http.StatusConflict, "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first")
	}
	if s.poll != nil {
		close(s.poll)
	}
	mine := make(chan struct{})
	s.poll = mine
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.poll == mine {
			s.poll = nil
		}
	}()
	s.confirm(a.number("offset"))
	s.expire()
	wait := time.After(time.Duration(a.number("timeout")) * time.Second)
	for {
		batch, changed := s.batch(a), s.Change()
		s.mu.Unlock()
		if len(batch) > 0 {
			return batch
		}
		select {
		case <-changed:
		case <-wait:
			return []json.RawMessage{}
		case <-mine:
			return refused(http.StatusConflict, "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running")
		case <-ctx.Done():
			return []json.RawMessage{}
		}
		s.mu.Lock()
	}
}

// confirm forgets the updates before offset; a negative one keeps only so many. An offset
// that cannot be meant counts as none. The lock is held.
func (s *Server) confirm(offset int64) {
	if offset < 0 {
		s.queue = s.queue[max(0, len(s.queue)+int(offset)):]
		return
	}
	if offset > s.lastUpdate+10 {
		offset = 0
	}
	s.queue = slices.DeleteFunc(s.queue, func(d *Delivery) bool {
		confirmed := offset > 0 && d.ID < offset
		d.settle(confirmed)
		return confirmed
	})
	s.Changed()
}

// batch returns what a poll gets. The lock is held.
func (s *Server) batch(a arguments) (batch []json.RawMessage) {
	limit := a.number("limit")
	if limit < 1 || limit > most {
		limit = most
	}
	for _, d := range s.queue {
		if d.ID < a.number("offset") && a.number("offset") <= s.lastUpdate+10 || int64(len(batch)) == limit {
			continue
		}
		d.mu.Lock()
		d.handed++
		d.mu.Unlock()
		batch = append(batch, d.payload)
	}
	return batch
}

// webhook is where updates are posted to.
type webhook struct {
	url, secret string
	stop        context.CancelFunc
	failedAt    int64
	failure     string
}

func (s *Server) setWebhook(a arguments) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.webhook.stop != nil {
		s.webhook.stop()
	}
	s.webhook = webhook{url: a["url"], secret: a["secret_token"]}
	if a["drop_pending_updates"] == "true" {
		s.queue = nil
	}
	if s.webhook.url != "" {
		var ctx context.Context
		ctx, s.webhook.stop = context.WithCancel(s.Context())
		if s.poll != nil {
			close(s.poll)
			s.poll = nil
		}
		s.Go(func(context.Context) { s.deliver(ctx) })
	}
	s.Changed()
	return true
}

func (s *Server) webhookInfo() any {
	s.mu.Lock()
	defer s.mu.Unlock()
	info := map[string]any{"url": s.webhook.url, "has_custom_certificate": false, "pending_update_count": len(s.queue)}
	if s.webhook.failedAt != 0 {
		info["last_error_date"], info["last_error_message"] = s.webhook.failedAt, s.webhook.failure
	}
	return info
}

// Webhook returns the address that the bot set; empty: none.
func (s *Server) Webhook() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.webhook.url
}

// WebhookFailure says why the last update was not delivered; empty: it was, or none is set.
func (s *Server) WebhookFailure() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.webhook.failure
}

// again is the pause before an update is posted again.
const again = 30 * time.Millisecond

// deliver posts updates until ctx ends: those of a chat one after the other, until each is taken.
func (s *Server) deliver(ctx context.Context) {
	for ctx.Err() == nil {
		s.mu.Lock()
		changed := s.Change()
		heads := map[int64]*Delivery{}
		for _, d := range s.queue {
			if heads[d.chat] == nil {
				heads[d.chat] = d
			}
		}
		s.mu.Unlock()
		failed := false
		for _, d := range heads {
			failed = !s.post(ctx, d) || failed
		}
		if len(heads) > 0 && !failed {
			continue
		}
		var pause <-chan time.Time
		if failed {
			pause, changed = time.After(again), nil
		}
		select {
		case <-changed:
		case <-pause:
		case <-ctx.Done():
		}
	}
}

// post posts an update once and reports whether it was taken.
func (s *Server) post(ctx context.Context, d *Delivery) bool {
	s.mu.Lock()
	url, secret := s.webhook.url, s.webhook.secret
	s.mu.Unlock()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(d.payload))
	if err != nil {
		return false
	}
	request.Header.Set("Content-Type", "application/json")
	if secret != "" {
		request.Header.Set("X-Telegram-Bot-Api-Secret-Token", secret)
	}
	d.mu.Lock()
	d.handed++
	d.mu.Unlock()
	status, taken, err := s.Do(request)
	failure := ""
	switch {
	case err != nil:
		failure = "Connection refused"
	case status/100 != 2:
		failure = fmt.Sprintf("Wrong response from the webhook: %d %s", status, http.StatusText(status))
	}
	s.obey(taken)
	if ctx.Err() != nil {
		return false
	}
	d.settle(failure == "")
	s.mu.Lock()
	defer s.mu.Unlock()
	if failure != "" {
		s.webhook.failure, s.webhook.failedAt = failure, s.now().Unix()
		s.Changed()
		return false
	}
	s.queue = slices.DeleteFunc(s.queue, func(q *Delivery) bool { return q == d })
	s.Changed()
	return true
}

// obey carries out the call that the answer of a webhook may contain.
func (s *Server) obey(taken []byte) {
	var values map[string]any
	if json.Unmarshal(taken, &values) != nil {
		return
	}
	call := Call{Arguments: map[string]string{}}
	call.Method, _ = values["method"].(string)
	for name, value := range values {
		call.Arguments[name] = fmt.Sprint(value)
	}
	if call.Method == "answerCallbackQuery" {
		s.perform(nil, &call)
	}
}
