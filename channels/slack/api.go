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
	fileTimeout = 5 * time.Minute  // of fetching a file
)

// apiURL is the address of the Web API, with a slash at the end.
func (o Options) apiURL() string {
	if o.APIURL == "" {
		return slack.APIURL
	}
	return strings.TrimSuffix(o.APIURL, "/") + "/"
}

// newAPI returns a client that makes one attempt at each call: trying again is the
// engine's business.
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
		api = &url.URL{} // every call will say what is wrong with it
	}
	return &http.Client{Timeout: timeout, Transport: bearer{o: o, api: api, next: http.DefaultTransport}}
}

// bearer puts the token into the Authorization header of calls of the API: Slack
// takes that as well as the form's field, some proxies and emulators nothing else.
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

// mayReceiveToken reports whether a file at this address is Slack's to serve: what
// is attached to a message can be anywhere.
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

// splitScopes reads the header that lists a token's scopes.
func splitScopes(header string) []string {
	return strings.FieldsFunc(header, func(r rune) bool { return r == ',' || r == ' ' })
}
