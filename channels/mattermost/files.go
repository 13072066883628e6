package mattermost

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const textDeleted = "is no longer available from Mattermost"

// Describe implements [chat.Files]. Most posts say what their files are.
func (p *platform) Describe(ctx context.Context, f domain.File) (domain.File, error) {
	if f.Name != f.ID {
		return f, nil
	}
	var info file
	err := p.call(ctx, http.MethodGet, "/files/"+url.PathEscape(f.ID)+"/info", nil, &info)
	if isMissing(err) {
		return f, chat.Unreadable(textDeleted)
	}
	f.Name, f.MIME, f.Size = cmp.Or(info.Name, f.ID), info.MIME, info.Size
	return f, err
}

// Fetch implements [chat.Files].
func (p *platform) Fetch(ctx context.Context, f domain.File) (body io.ReadCloser, err error) {
	err = p.limited(ctx, func(ctx context.Context) error {
		request, err := p.request(ctx, http.MethodGet, "/files/"+url.PathEscape(f.ID), http.NoBody)
		if err != nil {
			return err
		}
		response, err := p.open(p.files, request) //nolint:bodyclose // the caller closes it
		if err == nil {
			body = response.Body
		}
		return err
	})
	if isMissing(err) {
		return nil, chat.Unreadable(textDeleted)
	}
	return body, err
}

// upload stores a file and returns its ID. Nobody sees it before it is posted.
func (p *platform) upload(ctx context.Context, at chat.Place, msg chat.Message) (string, error) {
	var stored struct {
		Files []file `json:"file_infos"`
	}
	err := p.limited(ctx, func(ctx context.Context) error {
		query := url.Values{"channel_id": {channelOf(at.Chat)}, "filename": {msg.File}}
		request, err := p.request(ctx, http.MethodPost, "/files?"+query.Encode(), bytes.NewReader(msg.Content))
		if err != nil {
			return err
		}
		request.Header.Set("Content-Type", "application/octet-stream")
		return p.do(p.files, request, &stored)
	})
	if err == nil && len(stored.Files) != 1 {
		err = &remote.Error{Service: Name, Err: errors.New("the server did not store the file")}
	}
	if err != nil {
		return "", err
	}
	return stored.Files[0].ID, nil
}
