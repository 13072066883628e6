package whatsapp

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat/web"
)

const (
	callTimeout = 30 * time.Second
	fileTimeout = 5 * time.Minute
	maxAnswer   = 1 << 20 // bytes of an answer of the API
)

// call makes one call of the API with JSON on behalf of a chat (empty: none) and decodes
// its answer into out. Its error is a [remote.Error].
func (p *platform) call(ctx context.Context, method, path, chat string, in, out any) error {
	return p.send(ctx, path, chat, web.Call{Method: method, Body: in}, out)
}

// send is [platform.call] with any body.
func (p *platform) send(ctx context.Context, path, chat string, call web.Call, out any) error {
	call.Name, call.URL = path[strings.LastIndexByte(path, '/')+1:], p.o.APIURL+"/"+path
	call.Header = http.Header{"Authorization": {"Bearer " + p.o.AccessToken}}
	return p.limits.Do(ctx, call.Name, chat, chat != "", func(ctx context.Context) error {
		answer, err := p.web.Do(ctx, call)
		if err != nil {
			return err
		}
		if !answer.OK() {
			return readRefusal(answer)
		}
		return answer.Decode(out)
	})
}
