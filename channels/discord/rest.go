package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat/web"
	"github.com/holdfast-ai/holdfast/internal/build"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	defaultAPI  = "https://discord.com/api/v10"
	callTimeout = 30 * time.Second
	fileTimeout = 5 * time.Minute // of an upload or a download
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

// call makes one attempt at a call and decodes the answer, if that is not nil. Its error is
// a [remote.Error]. It waits briefly while Discord asked to wait with such calls; if that is
// too long, it is not made and the error says how long.
func (p *platform) call(ctx context.Context, r request, answer any) error {
	return p.limits.Do(ctx, r.bucket(), r.major(), true, func(ctx context.Context) error {
		if err := p.invalid.check(); err != nil {
			return err
		}
		call := web.Call{Name: r.bucket(), Method: r.method, URL: p.o.APIURL + r.path(), Body: r.body, Header: http.Header{
			"Authorization": {"Bot " + p.o.Token}, "User-Agent": {"DiscordBot (https://github.com/holdfast-ai/holdfast, " + build.Version + ")"},
		}}
		if r.file != "" {
			payload, err := json.Marshal(r.body)
			if err != nil {
				return fmt.Errorf("%s: %w", r.bucket(), err)
			}
			call.Form = &web.Form{Fields: map[string]string{"payload_json": string(payload)}, Field: "files[0]", Name: r.file, Content: r.data}
			call.Timeout = fileTimeout
		}
		got, err := p.web.Do(ctx, call)
		if err != nil {
			return err
		}
		if got.Header.Get("X-RateLimit-Remaining") == "0" {
			reset := http.Header{"Retry-After": got.Header.Values("X-RateLimit-Reset-After")}
			p.limits.Hold(r.bucket(), r.major(), remote.RetryAfter(reset, time.Now()))
		}
		if !got.OK() {
			return p.failure(got)
		}
		if got.Status == http.StatusNoContent {
			return nil
		}
		return got.Decode(answer)
	})
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
