package discord

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/internal/build"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	defaultAPI  = "https://discord.com/api/v10"
	callTimeout = 30 * time.Second
	fileTimeout = 5 * time.Minute // of a download
	maxAnswer   = 16 << 20        // bytes of an answer
)

// request is a call of the API.
type request struct {
	method string
	route  string // the path, with %s for ids
	ids    []string
	query  url.Values
	body   any    // JSON; nil: none
	file   string // not empty: content is uploaded with this name
	data   []byte
}

// major is the ID by which Discord limits calls of a route.
func (r request) major() string {
	if len(r.ids) == 0 {
		return ""
	}
	return r.ids[0]
}

func (r request) bucket() string { return r.method + " " + r.route }

func (r request) path() string {
	var ids []any
	for _, id := range r.ids {
		ids = append(ids, url.PathEscape(id))
	}
	path := fmt.Sprintf(r.route, ids...)
	if len(r.query) > 0 {
		path += "?" + r.query.Encode()
	}
	return path
}

// newHTTP returns a client that follows no redirect: the token is for one host.
func newHTTP(timeout time.Duration) *http.Client {
	return &http.Client{Timeout: timeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// call makes one attempt at a call and decodes the answer, if that is not nil. Its error is
// a [remote.Error]. It waits briefly while Discord asked to wait with such calls; if that is
// too long, it is not made and the error says how long.
func (p *platform) call(ctx context.Context, r request, answer any) error {
	return p.limits.Do(ctx, r.bucket(), r.major(), true, func(ctx context.Context) error {
		if err := p.invalid.check(); err != nil {
			return err
		}
		response, err := p.attempt(ctx, r)
		if err != nil {
			return &remote.Error{Service: Name, Err: fmt.Errorf("%s: %w", r.bucket(), remote.WithoutURL(err))}
		}
		defer response.Body.Close()
		if response.Header.Get("X-RateLimit-Remaining") == "0" {
			reset := http.Header{"Retry-After": response.Header.Values("X-RateLimit-Reset-After")}
			p.limits.Hold(r.bucket(), r.major(), remote.RetryAfter(reset, time.Now()))
		}
		if response.StatusCode >= http.StatusMultipleChoices {
			return p.failure(r, response)
		}
		if answer == nil || response.StatusCode == http.StatusNoContent {
			return nil
		}
		if err := json.NewDecoder(io.LimitReader(response.Body, maxAnswer)).Decode(answer); err != nil {
			return &remote.Error{Service: Name, Err: fmt.Errorf("%s: read the answer: %w", r.bucket(), err)}
		}
		return nil
	})
}

func (p *platform) attempt(ctx context.Context, r request) (*http.Response, error) {
	body, kind, err := r.encode()
	if err != nil {
		return nil, err
	}
	call, err := http.NewRequestWithContext(ctx, r.method, p.o.APIURL+r.path(), body)
	if err != nil {
		return nil, err
	}
	call.Header.Set("Authorization", "Bot "+p.o.Token)
	call.Header.Set("User-Agent", "DiscordBot (https://github.com/holdfast-ai/holdfast, "+build.Version+")")
	if kind != "" {
		call.Header.Set("Content-Type", kind)
	}
	return p.web.Do(call)
}

// encode returns the body of a request and its media type.
func (r request) encode() (io.Reader, string, error) {
	if r.body == nil {
		return http.NoBody, "", nil
	}
	encoded, err := json.Marshal(r.body)
	if err != nil || r.file == "" {
		return bytes.NewReader(encoded), "application/json", err
	}
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	payload, err := w.CreateFormField("payload_json")
	if err == nil {
		_, err = payload.Write(encoded)
	}
	file, err2 := w.CreateFormFile("files[0]", r.file)
	if err2 == nil {
		_, err2 = file.Write(r.data)
	}
	return &form, w.FormDataContentType(), cmp.Or(err, err2, w.Close())
}

// problem is Discord's answer to a call that failed.
type problem struct {
	Code       int             `json:"code"`
	Message    string          `json:"message"`
	Errors     json.RawMessage `json:"errors"`
	RetryAfter float64         `json:"retry_after"`
	Global     bool            `json:"global"`
}

// Error implements error.
func (p problem) Error() string {
	text := fmt.Sprintf("%s (%d)", cmp.Or(p.Message, "no further explanation"), p.Code)
	if len(p.Errors) > 0 {
		text += " " + string(p.Errors[:min(len(p.Errors), 300)])
	}
	return strings.ToValidUTF8(text, "")
}

// code returns the code of Discord's answer; 0 if there is none.
func code(err error) int {
	answer, _ := errors.AsType[problem](err)
	return answer.Code
}
