package slacktest

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// ServeEvents posts everything to this URL instead of using Socket Mode; "" returns to
// Socket Mode.
func (s *Server) ServeEvents(target string) {
	defer s.act()()
	s.target = target
}

// Challenge performs the url_verification of an app's URL. The error says what the app
// did wrong.
func (s *Server) Challenge(ctx context.Context) error {
	s.mu.Lock()
	target, challenge := s.target, s.id("challenge-")
	s.mu.Unlock()
	body, err := json.Marshal(reply{"type": "url_verification", "token": verification, "challenge": challenge})
	if err != nil {
		return err
	}
	status, answer, _, err := s.push(ctx, target, "application/json", body, nil)
	switch {
	case err != nil:
		return err
	case status != http.StatusOK:
		return fmt.Errorf("status %d", status)
	}
	var got struct{ Challenge string }
	if json.Unmarshal(answer, &got) == nil && got.Challenge == challenge || string(answer) == challenge {
		return nil
	}
	return fmt.Errorf("the challenge was answered with %q", answer)
}

// Sign returns the signature headers for a body.
func Sign(secret string, at time.Time, body []byte) http.Header {
	stamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("v0:" + stamp + ":"))
	mac.Write(body)
	h := http.Header{}
	h.Set("X-Slack-Request-Timestamp", stamp)
	h.Set("X-Slack-Signature", "v0="+hex.EncodeToString(mac.Sum(nil)))
	return h
}

// push posts a signed body to the app.
func (s *Server) push(ctx context.Context, target, contentType string, body []byte, extra map[string]string) (int, []byte, http.Header, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return 0, nil, nil, err
	}
	request.Header = Sign(SigningSecret, time.Now(), body)
	request.Header.Set("Content-Type", contentType)
	request.Header.Set("User-Agent", "Slackbot 1.0 (+https://api.slack.com/robots)")
	for key, value := range extra {
		request.Header.Set(key, value)
	}
	response, err := s.client.Do(request)
	if err != nil {
		return 0, nil, nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	return response.StatusCode, answer, response.Header, err
}

// attemptHTTP posts an event to the app. It reports whether a failure may be
// retried.
func (s *Server) attemptHTTP(e *Event, a *Attempt, target string) bool {
	s.mu.Lock()
	e.begin(a)
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(s.ctx, s.ackTimeout)
	defer cancel()
	contentType, body := e.form()
	extra := map[string]string{}
	if a.Number > 0 {
		extra["X-Slack-Retry-Num"], extra["X-Slack-Retry-Reason"] = strconv.Itoa(a.Number), a.Reason
	}
	status, answer, header, err := s.push(ctx, target, contentType, body, extra)
	failure := ""
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		failure = "http_timeout"
	case err != nil:
		failure = "connection_failed"
	case status < 200 || status > 299:
		failure = "http_error"
	}
	s.conclude(a, failure, status, answer)
	return header.Get("X-Slack-No-Retry") != "1"
}

// form encodes an event for posting: JSON; for interactions a form with the payload in
// a field; for commands a form.
func (e *Event) form() (contentType string, body []byte) {
	values := url.Values{}
	switch e.Type {
	case Interactive:
		values.Set("payload", string(e.Payload))
	case Commands:
		fields := arguments{}
		_ = fields.add(e.Payload)
		for key, value := range fields {
			values.Set(key, value)
		}
	default:
		return "application/json", e.Payload
	}
	return "application/x-www-form-urlencoded", []byte(values.Encode())
}
