package whatsapp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	callTimeout = 30 * time.Second
	fileTimeout = 5 * time.Minute
	maxAnswer   = 1 << 20 // bytes of an answer of the API
)

// call makes one call of the API with JSON on behalf of a chat (empty: none) and decodes
// its answer into out. Its error is a [remote.Error].
func (p *platform) call(ctx context.Context, method, path, chat string, in, out any) error {
	var body io.Reader = http.NoBody
	if in != nil {
		encoded, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("encode a request: %w", err)
		}
		body = bytes.NewReader(encoded)
	}
	return p.send(ctx, p.web, method, path, chat, "application/json", body, out)
}

// send is [platform.call] with any body.
func (p *platform) send(ctx context.Context, client *http.Client, method, path, chat, contentType string, body io.Reader, out any) error {
	name := path[strings.LastIndexByte(path, '/')+1:]
	return p.limits.Do(ctx, name, chat, chat != "", func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, method, p.o.APIURL+"/"+path, body)
		if err != nil {
			return networkError(err)
		}
		request.Header.Set("Authorization", "Bearer "+p.o.AccessToken)
		request.Header.Set("Content-Type", contentType)
		response, err := client.Do(request)
		if err != nil {
			return networkError(err)
		}
		defer response.Body.Close()
		answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
		if err != nil {
			return networkError(err)
		}
		if response.StatusCode < 200 || response.StatusCode > 299 {
			return readRefusal(response, answer)
		}
		if err := json.Unmarshal(answer, out); err != nil {
			return &remote.Error{Service: Name, Status: http.StatusBadGateway, Err: fmt.Errorf("read an answer: %w", err)}
		}
		return nil
	})
}

func networkError(err error) error {
	return &remote.Error{Service: Name, Err: remote.WithoutURL(err)}
}

// stay has a redirect reported as an answer: the API has none.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
