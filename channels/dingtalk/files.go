package dingtalk

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/chat/web"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// Describe implements [chat.Files].
func (*platform) Describe(_ context.Context, f domain.File) (domain.File, error) { return f, nil }

// Fetch implements [chat.Files]: a code is exchanged for an address that needs no token.
func (p *platform) Fetch(ctx context.Context, f domain.File) (io.ReadCloser, error) {
	var place struct {
		URL string `json:"downloadUrl"`
	}
	err := p.api(ctx, http.MethodPost, "/v1.0/robot/messageFiles/download", "", map[string]any{"downloadCode": f.ID, "robotCode": p.o.RobotCode}, &place)
	if failed := remote.As(err); failed != nil && failed.Permanent() {
		return nil, chat.Unreadable("is no longer stored by DingTalk")
	}
	if err != nil {
		return nil, err
	}
	return p.files.Open(ctx, place.URL)
}

// upload stores a file at DingTalk and returns its ID.
func (p *platform) upload(ctx context.Context, name string, isImage bool, content []byte) (string, error) {
	token, err := p.token.Get(ctx)
	if err != nil {
		return "", err
	}
	kind := "file"
	if isImage {
		kind = "image"
	}
	var stored struct {
		Code    int    `json:"errcode"`
		Message string `json:"errmsg"`
		ID      string `json:"media_id"`
	}
	query := url.Values{"access_token": {token}, "type": {kind}}
	err = p.do(ctx, web.Call{
		Name: "/media/upload", Method: http.MethodPost, URL: p.o.UploadURL + "/media/upload?" + query.Encode(), Timeout: fileTimeout,
		Form: &web.Form{Field: "media", Name: name, Content: content}, Secrets: []string{token},
	}, &stored)
	if err != nil {
		return "", err
	}
	switch stored.Code {
	case 0:
		return stored.ID, nil
	case 40001, 40014, 42001: // of the token
		p.token.Reject(token)
		return "", &remote.Error{Service: Name, Status: http.StatusServiceUnavailable, Err: fmt.Errorf("/media/upload: %w", errToken)}
	case 88, 90018: // too many calls
		return "", &remote.Error{Service: Name, Status: http.StatusTooManyRequests, RetryAfter: limitedFor, Err: fmt.Errorf("/media/upload: %s", stored.Message)}
	}
	return "", &remote.Error{Service: Name, Status: http.StatusBadRequest, Err: fmt.Errorf("/media/upload: error %d: %s", stored.Code, stored.Message)}
}
