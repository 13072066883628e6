package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	callTimeout = 30 * time.Second
	fileTimeout = 5 * time.Minute // of an upload or a download
	// answerLimit bounds an answer, in bytes: 100 updates, each with a message and the one
	// that it answers.
	answerLimit = 32 << 20
)

// client makes calls of the Bot API, one attempt each. It never shows the token, which is
// part of every URL.
type client struct {
	base  string
	token string
	http  *http.Client
}

func newClient(o Options) client {
	return client{base: o.apiURL(), token: o.Token, http: &http.Client{
		// A redirect would pass the token on in the Referer.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// args are the parameters of a call.
type args map[string]any

// call makes a call and decodes its result, if that is not nil. Its error is a [remote.Error].
func (c client) call(ctx context.Context, method string, a args, result any) error {
	return c.callFor(ctx, callTimeout, method, a, result)
}

// callFor is call with another timeout.
func (c client) callFor(ctx context.Context, timeout time.Duration, method string, a args, result any) error {
	if a == nil {
		a = args{}
	}
	body, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return c.send(ctx, timeout, method, "application/json", body, result)
}

// upload makes a call that sends a file. The other parameters are strings.
func (c client) upload(ctx context.Context, method string, a args, field, name string, content []byte, result any) error {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for key, value := range a {
		text, is := value.(string)
		if !is {
			encoded, err := json.Marshal(value)
			if err != nil {
				return fmt.Errorf("%s: %w", method, err)
			}
			text = string(encoded)
		}
		_ = form.WriteField(key, text) // a buffer takes everything
	}
	part, err := form.CreateFormFile(field, name)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	_, _ = part.Write(content)
	_ = form.Close()
	return c.send(ctx, fileTimeout, method, form.FormDataContentType(), body.Bytes(), result)
}

// answer is what Telegram answers every call with.
type answer struct {
	OK          bool            `json:"ok"`
	Result      json.RawMessage `json:"result"`
	Code        int             `json:"error_code"`
	Description string          `json:"description"`
	Parameters  struct {
		RetryAfter int64 `json:"retry_after"` // seconds
		MigrateTo  int64 `json:"migrate_to_chat_id"`
	} `json:"parameters"`
}

func (c client) send(ctx context.Context, timeout time.Duration, method, contentType string, body []byte, result any) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/bot"+c.token+"/"+method, bytes.NewReader(body))
	if err != nil {
		return c.failed(method, 0, err)
	}
	request.Header.Set("Content-Type", contentType)
	response, err := c.http.Do(request)
	if err != nil {
		return c.failed(method, 0, err)
	}
	defer response.Body.Close()
	var a answer
	if err := json.NewDecoder(io.LimitReader(response.Body, answerLimit)).Decode(&a); err != nil {
		return c.notTelegram(method, response.StatusCode, err)
	}
	if !a.OK {
		return c.refused(method, response.StatusCode, a)
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(a.Result, result); err != nil {
		return c.failed(method, 0, fmt.Errorf("read the answer: %w", err))
	}
	return nil
}

// failed returns the error of a call without a usable answer.
func (c client) failed(method string, status int, err error) error {
	err = remote.WithoutURL(err)
	if strings.Contains(err.Error(), c.token) {
		err = errors.New(c.redact(err.Error()))
	}
	return &remote.Error{Service: Name, Status: status, Err: fmt.Errorf("%s: %w", method, err)}
}

func (c client) redact(text string) string { return strings.ReplaceAll(text, c.token, "[redacted]") }

// open opens a file by the path that getFile returned.
func (c client) open(ctx context.Context, path string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/file/bot"+c.token+"/"+path, http.NoBody)
	if err != nil {
		return nil, c.failed("download", 0, err)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, c.failed("download", 0, err)
	}
	return response, nil
}
