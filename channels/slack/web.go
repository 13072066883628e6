package slack

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/holdfast-ai/holdfast/internal/remote"
)

// form makes a call of the Web API whose result the library does not decode completely.
func (p *platform) form(ctx context.Context, method string, arguments url.Values, answer any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.o.apiURL()+method, strings.NewReader(arguments.Encode()))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return do(p.web, request, answer)
}

// put uploads a file to the URL that Slack returned, which needs no token. The library
// closes the form twice, which not every server accepts.
func (p *platform) put(ctx context.Context, address string, content []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(content))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/octet-stream")
	return do(p.files, request, nil)
}

// do makes a request and decodes the answer, if that is not nil.
func do(client *http.Client, request *http.Request, answer any) error {
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if err := status(response); err != nil || answer == nil {
		return err
	}
	if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	return nil
}

// status returns the error of a response's status.
func status(response *http.Response) error {
	switch response.StatusCode {
	case http.StatusOK:
		return nil
	case http.StatusTooManyRequests:
		return &slack.RateLimitedError{RetryAfter: remote.RetryAfter(response.Header, time.Now())}
	}
	return slack.StatusCodeError{Code: response.StatusCode, Status: response.Status}
}
