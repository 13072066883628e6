package faulty

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Push is a delivery to a webhook, until it is acknowledged.
type Push struct{ done chan error }

// Wait waits until the delivery was acknowledged or given up; the error says why.
func (p Push) Wait(ctx context.Context) error {
	select {
	case err := <-p.done:
		p.done <- err
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

var errNotAcknowledged = errors.New("not acknowledged")

// Push posts a body in the background, again after each of these pauses, until it is
// answered with status 200 and isAck. The functions are called for each attempt.
func (s *Server) Push(body []byte, pauses []time.Duration, target func() string, header func() http.Header, isAck func(answer []byte) bool) Push {
	p := Push{make(chan error, 1)}
	s.Go(func(ctx context.Context) {
		for attempt := 0; ; attempt++ {
			status, answer, err := s.Post(ctx, target(), header(), body)
			if err == nil && (status != http.StatusOK || !isAck(answer)) {
				err = fmt.Errorf("%w: status %d: %s", errNotAcknowledged, status, answer)
			}
			if err == nil || attempt == len(pauses) {
				p.done <- err
				return
			}
			select {
			case <-time.After(pauses[attempt]):
			case <-ctx.Done():
				p.done <- err
				return
			}
		}
	})
	return p
}

// Post makes one request to a webhook.
func (s *Server) Post(ctx context.Context, target string, header http.Header, body []byte) (status int, answer []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.Header = header
	return s.Do(request)
}

// Do makes a request and reads its answer, within five seconds.
func (s *Server) Do(request *http.Request) (status int, answer []byte, err error) {
	response, err := s.client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(response.Body, 1<<20))
	return response.StatusCode, answer, err
}
