package qq

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat/web"
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
		call := web.Call{
			Name: name, Method: method, URL: p.o.APIURL + path, Body: in, Header: http.Header{"Authorization": {"QQBot " + token}, "X-Union-Appid": {p.o.AppID}},
		}
		if name == "files" {
			call.Timeout = fileTimeout
		}
		answer, err := p.web.Do(ctx, call)
		if err != nil {
			return err
		}
		if refusal := readRefusal(answer); refusal != nil {
			if refusal.isAboutToken() {
				p.token.Reject(token)
			}
			return refusal.failure(answer)
		}
		return answer.Decode(out)
	})
}

// pathOf returns the path of a chat's resource.
func pathOf(chat, resource string) string {
	kind, id, _ := strings.Cut(chat, "/")
	return "/v2/" + kind + "s/" + url.PathEscape(id) + "/" + resource
}
