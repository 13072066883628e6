package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat/web"
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
	web   *web.Client
	store *web.Files
}

func newClient(o Options) client {
	return client{
		base: o.apiURL(), token: o.Token, web: web.NewClient(Name, callTimeout, answerLimit),
		store: web.NewFiles(Name, "Telegram", fileTimeout, web.Hosts(nil, o.apiURL())),
	}
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
	return c.send(ctx, method, web.Call{Body: a, Timeout: timeout}, result)
}

// upload makes a call that sends a file.
func (c client) upload(ctx context.Context, method string, a args, field, name string, content []byte, result any) error {
	fields := map[string]string{}
	for key, value := range a {
		text, is := value.(string)
		if !is {
			encoded, err := json.Marshal(value)
			if err != nil {
				return fmt.Errorf("%s: %w", method, err)
			}
			text = string(encoded)
		}
		fields[key] = text
	}
	return c.send(ctx, method, web.Call{Form: &web.Form{Fields: fields, Field: field, Name: name, Content: content}, Timeout: fileTimeout}, result)
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

func (c client) send(ctx context.Context, method string, call web.Call, result any) error {
	call.Name, call.Method, call.URL = method, http.MethodPost, c.base+"/bot"+c.token+"/"+method
	got, err := c.web.Do(ctx, call)
	if err != nil {
		return c.redacted(err)
	}
	var a answer
	switch unreadable := got.Decode(&a); {
	case unreadable != nil && got.OK():
		return unreadable
	case unreadable != nil:
		failed := got.Refused(nil)
		failed.Err = fmt.Errorf("%w; check channels.telegram.api_url and the proxy", failed.Err)
		return failed
	case !a.OK:
		return c.refused(method, got.Status, a)
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(a.Result, result); err != nil {
		return &remote.Error{Service: Name, Err: fmt.Errorf("%s: read the answer: %w", method, err)}
	}
	return nil
}

// redacted returns an error without the token.
func (c client) redacted(err error) error {
	if !strings.Contains(err.Error(), c.token) {
		return err
	}
	return &remote.Error{Service: Name, Err: errors.New(c.redact(err.Error()))}
}

func (c client) redact(text string) string { return strings.ReplaceAll(text, c.token, "[redacted]") }
