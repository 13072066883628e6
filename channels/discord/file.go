package discord

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/chat/web"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// fileHosts are the hosts that serve attachments.
var fileHosts = []string{"cdn.discordapp.com", "media.discordapp.net"}

// Describe implements [chat.Files]: messages come with all there is to know.
func (*platform) Describe(_ context.Context, f domain.File) (domain.File, error) { return f, nil }

// Fetch implements [chat.Files]. Addresses expire after a day: the message then has another.
func (p *platform) Fetch(ctx context.Context, f domain.File) (io.ReadCloser, error) {
	body, err := p.files.Open(ctx, f.URL)
	if !errors.Is(err, web.ErrNotThere) {
		return body, err
	}
	if f.URL, err = p.renewed(ctx, f); err != nil {
		return nil, err
	}
	return p.files.Open(ctx, f.URL)
}

// renewed returns the present address of a file.
func (p *platform) renewed(ctx context.Context, f domain.File) (string, error) {
	ids := strings.Split(f.ID, "/") // channel, message, attachment
	if len(ids) != 3 {
		return "", chat.Unreadable("is no longer available")
	}
	var m message
	err := p.call(ctx, request{method: http.MethodGet, route: messageRoute, ids: ids[:2]}, &m)
	if failed := remote.As(err); failed != nil && failed.Permanent() {
		return "", chat.Unreadable("was deleted")
	}
	for _, a := range m.Attachments {
		if a.ID == ids[2] {
			return a.URL, err
		}
	}
	if err == nil {
		err = chat.Unreadable("was deleted")
	}
	return "", err
}
