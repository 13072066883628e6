package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// ErrNotThere is wrapped by the error for a file that is not at its address any more, which
// is also a [chat.Unreadable].
var ErrNotThere = errors.New("the file is not there")

// maxRedirects bounds how often a download is redirected.
const maxRedirects = 5

// Files downloads the files of a platform.
type Files struct {
	Service  string // in errors
	Platform string // as people know it
	Trusts   func(*url.URL) bool
	Header   http.Header // sent with each request

	client http.Client
}

// NewFiles returns the files at the addresses that are trusted; nothing is sent anywhere else.
func NewFiles(service, platform string, timeout time.Duration, trusts func(*url.URL) bool) *Files {
	f := &Files{Service: service, Platform: platform, Trusts: trusts}
	f.client = http.Client{Timeout: timeout, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects || !trusts(r.URL) {
			return fmt.Errorf("redirected to %s", r.URL.Hostname())
		}
		return nil
	}}
	return f
}

// Hosts trusts these domains and those below them over TLS and its port, and the
// hosts of the base URLs.
func Hosts(domains []string, bases ...string) func(*url.URL) bool {
	return func(at *url.URL) bool {
		host := strings.ToLower(at.Hostname())
		if at.User != nil || host == "" {
			return false
		}
		for _, base := range bases {
			if own, err := url.Parse(base); err == nil && at.Scheme == own.Scheme && strings.EqualFold(at.Host, own.Host) {
				return true
			}
		}
		return at.Scheme == "https" && (at.Port() == "" || at.Port() == "443") && slices.ContainsFunc(domains, func(domain string) bool {
			return host == domain || strings.HasSuffix(host, "."+domain)
		})
	}
}

// Open opens the file at an address.
func (f *Files) Open(ctx context.Context, address string) (io.ReadCloser, error) {
	at, err := url.Parse(address)
	if err != nil || !f.Trusts(at) {
		return nil, chat.Unreadable("is not stored by " + f.Platform)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, chat.Unreadable("has no valid address")
	}
	for name, values := range f.Header {
		request.Header[http.CanonicalHeaderKey(name)] = values
	}
	response, err := f.client.Do(request)
	if err != nil {
		return nil, &remote.Error{Service: f.Service, Err: fmt.Errorf("download: %w", remote.WithoutURL(err))}
	}
	switch response.StatusCode {
	case http.StatusOK:
		return response.Body, nil
	case http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusGone:
		err = errors.Join(chat.Unreadable("is no longer stored by "+f.Platform), ErrNotThere)
	default:
		err = remote.Rejected(f.Service, response, "download: "+http.StatusText(response.StatusCode))
	}
	return nil, errors.Join(err, response.Body.Close())
}
