package qq

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	callTimeout = 20 * time.Second // QQ asks for five at least
	fileTimeout = 2 * time.Minute
	maxAnswer   = 1 << 20 // bytes of an answer of the API
)

// call makes one call of the API on behalf of a chat (empty: none) and decodes its answer
// into out, if that is not nil. Its error is a [remote.Error].
func (p *platform) call(ctx context.Context, method, path, chat string, in, out any) error {
	name := path[strings.LastIndexByte(path, '/')+1:]
	return p.limits.Do(ctx, name, chat, chat != "", func(ctx context.Context) error {
		token, err := p.token.Get(ctx)
		if err != nil {
			return err
		}
		answer, err := p.request(ctx, method, p.o.APIURL+path, "QQBot "+token, in)
		if err != nil {
			return err
		}
		if refusal := readRefusal(answer); refusal != nil {
			if refusal.isAboutToken() {
				p.token.Reject(token)
			}
			return refusal.failure(name, answer)
		}
		return decode(name, answer.body, out)
	})
}

// answer is an answer of QQ's.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// request makes a request with JSON. The error is that of the network.
func (p *platform) request(ctx context.Context, method, address, authorization string, in any) (answer, error) {
	var body io.Reader = http.NoBody
	if in != nil {
		encoded, err := json.Marshal(in)
		if err != nil {
			return answer{}, fmt.Errorf("encode a request: %w", err)
		}
		body = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return answer{}, networkError(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if authorization != "" {
		request.Header.Set("Authorization", authorization)
		request.Header.Set("X-Union-Appid", p.o.AppID)
	}
	client := p.web
	if strings.HasSuffix(address, "/files") {
		client = p.files
	}
	response, err := client.Do(request)
	if err != nil {
		return answer{}, networkError(err)
	}
	defer response.Body.Close()
	read, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return answer{}, networkError(err)
	}
	return answer{response.StatusCode, response.Header, read}, nil
}

func networkError(err error) error {
	return &remote.Error{Service: Name, Err: remote.WithoutURL(err)}
}

// decode decodes the answer to a call.
func decode(name string, body []byte, out any) error {
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(body, out); err != nil {
		return &remote.Error{Service: Name, Status: http.StatusBadGateway, Err: fmt.Errorf("%s: read the answer: %w", name, err)}
	}
	return nil
}

// stay has a redirect reported as an answer: QQ's API has none.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// pathOf returns the path of a chat's resource.
func pathOf(chat, resource string) string {
	kind, id, _ := strings.Cut(chat, "/")
	return "/v2/" + kind + "s/" + url.PathEscape(id) + "/" + resource
}
