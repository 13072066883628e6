package slack

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/slack-go/slack"
)

const (
	callTimeout = 30 * time.Second // of a call of the Web API
	fileTimeout = 5 * time.Minute  // of a download
)

// apiURL returns the address of the Web API, with a trailing slash.
func (o Options) apiURL() string {
	if o.APIURL == "" {
		return slack.APIURL
	}
	return strings.TrimSuffix(o.APIURL, "/") + "/"
}

// newAPI returns a client that makes one attempt at each call: Temporal retries.
func newAPI(o Options) *slack.Client {
	return slack.New(o.BotToken,
		slack.OptionHTTPClient(newHTTP(o, callTimeout)),
		slack.OptionAppLevelToken(o.AppToken),
		slack.OptionAPIURL(o.apiURL()),
	)
}

func newHTTP(o Options, timeout time.Duration) *http.Client {
	api, err := url.Parse(o.apiURL())
	if err != nil {
		api = &url.URL{} // every call will report what is wrong with it
	}
	return &http.Client{Timeout: timeout, Transport: bearer{o: o, api: api, next: http.DefaultTransport}}
}

// bearer puts the token into the Authorization header of API calls. Slack also accepts the
// form field; some proxies and emulators accept the header only.
type bearer struct {
	o    Options
	api  *url.URL
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("Authorization") != "" || !sameHost(r.URL, b.api) || !strings.HasPrefix(r.URL.Path, b.api.Path) {
		return b.next.RoundTrip(r)
	}
	token := b.o.BotToken
	if strings.HasSuffix(r.URL.Path, "/apps.connections.open") {
		token = b.o.AppToken
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+token)
	return b.next.RoundTrip(r)
}

func sameHost(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host)
}

// mayReceiveToken reports whether Slack serves files at this address: files attached to a
// message may be elsewhere.
func (o Options) mayReceiveToken(address *url.URL) bool {
	if api, err := url.Parse(o.apiURL()); err == nil && sameHost(address, api) {
		return true
	}
	host := strings.ToLower(address.Hostname())
	for _, domain := range []string{"slack.com", "slack-files.com", "slack-edge.com", "slack-gov.com"} {
		if address.Scheme == "https" && (host == domain || strings.HasSuffix(host, "."+domain)) {
			return true
		}
	}
	return false
}

// splitScopes parses the header that lists a token's scopes.
func splitScopes(header string) []string {
	return strings.FieldsFunc(header, func(r rune) bool { return r == ',' || r == ' ' })
}
