package dingtalk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"

	"github.com/holdfast-ai/holdfast/channels/chat"
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
		return nil, chat.Unreadable("is no longer available from DingTalk")
	}
	if err != nil {
		return nil, err
	}
	if !p.o.trusts(place.URL) {
		return nil, chat.Unreadable("is not stored by DingTalk")
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, place.URL, http.NoBody)
	if err != nil {
		return nil, chat.Unreadable("has no valid address")
	}
	response, err := p.files.Do(request)
	if err != nil {
		return nil, &remote.Error{Service: Name, Err: fmt.Errorf("download: %w", remote.WithoutURL(err))}
	}
	if response.StatusCode != http.StatusOK {
		failed := remote.Rejected(Name, response, "download: "+http.StatusText(response.StatusCode))
		_ = response.Body.Close()
		if failed.Permanent() {
			return nil, chat.Unreadable("is no longer available from DingTalk")
		}
		return nil, failed
	}
	return response.Body, nil
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
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	field, err := form.CreateFormFile("media", name)
	if err == nil {
		_, err = field.Write(content)
	}
	if err = errors.Join(err, form.Close()); err != nil {
		return "", fmt.Errorf("encode the file: %w", err)
	}
	query := url.Values{"access_token": {token}, "type": {kind}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.o.UploadURL+"/media/upload?"+query.Encode(), &body)
	if err != nil {
		return "", errors.New("channels.dingtalk.upload_url is not a URL")
	}
	request.Header.Set("Content-Type", form.FormDataContentType())
	var stored struct {
		Code    int    `json:"errcode"`
		Message string `json:"errmsg"`
		ID      string `json:"media_id"`
	}
	if err := p.do(p.files, request, "/media/upload", &stored); err != nil {
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
