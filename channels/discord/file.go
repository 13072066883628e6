package discord

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// fileHosts are the hosts that serve attachments.
var fileHosts = []string{"cdn.discordapp.com", "media.discordapp.net"}

// Describe implements [chat.Files]: messages come with all there is to know.
func (*platform) Describe(_ context.Context, f domain.File) (domain.File, error) { return f, nil }

var errExpired = errors.New("the address has expired")

// Fetch implements [chat.Files]. Addresses expire after a day: the message then has another.
func (p *platform) Fetch(ctx context.Context, f domain.File) (io.ReadCloser, error) {
	body, err := p.download(ctx, f.URL)
	if !errors.Is(err, errExpired) {
		return body, err
	}
	f.URL, err = p.renewed(ctx, f)
	if err != nil {
		return nil, err
	}
	body, err = p.download(ctx, f.URL)
	if errors.Is(err, errExpired) {
		return nil, chat.Unreadable("was deleted")
	}
	return body, err
}

// download opens the file at an address. The token is not sent there.
func (p *platform) download(ctx context.Context, address string) (io.ReadCloser, error) {
	at, err := url.Parse(address)
	if err != nil || !p.mayServeFiles(at) {
		return nil, chat.Unreadable("is not stored by Discord")
	}
	call, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := p.files.Do(call)
	if err != nil {
		return nil, &remote.Error{Service: Name, Err: fmt.Errorf("download: %w", remote.WithoutURL(err))}
	}
	switch response.StatusCode {
	case http.StatusOK:
		return response.Body, nil
	case http.StatusForbidden, http.StatusNotFound, http.StatusGone:
		err = errExpired
	default:
		err = remote.Rejected(Name, response, "")
	}
	return nil, errors.Join(err, response.Body.Close())
}

func (p *platform) mayServeFiles(at *url.URL) bool {
	if at.Scheme == "https" && slices.Contains(fileHosts, strings.ToLower(at.Host)) {
		return true
	}
	api, err := url.Parse(p.o.APIURL)
	return err == nil && p.o.APIURL != defaultAPI && at.Scheme == api.Scheme && at.Host == api.Host
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
