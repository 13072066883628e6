package dingtalk

import (
	"cmp"
	"log/slog"
	"net/url"
	"strings"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// Name is the channel's name.
const Name = "dingtalk"

// Where DingTalk serves its API, and its older part that takes files.
const (
	DefaultAPIURL    = "https://api.dingtalk.com"
	DefaultUploadURL = "https://oapi.dingtalk.com"
)

// Options are the settings of the channel. See config.DingTalk for what they mean.
type Options struct {
	chat.Options
	ClientID     string
	ClientSecret string
	RobotCode    string // empty: the client ID
	CardTemplate string // of replies; empty: they are plain messages
	CardKey      string // the template's variable with the text; empty: content
	APIURL       string
	UploadURL    string
}

func (o Options) withDefaults() Options {
	o.APIURL = strings.TrimSuffix(cmp.Or(o.APIURL, DefaultAPIURL), "/")
	o.UploadURL = strings.TrimSuffix(cmp.Or(o.UploadURL, DefaultUploadURL), "/")
	o.RobotCode, o.CardKey = cmp.Or(o.RobotCode, o.ClientID), cmp.Or(o.CardKey, "content")
	o.CommandPrefix = "/"
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// trusts reports whether an address that DingTalk's API named may be called: over TLS, or
// on the API's own host.
func (o Options) trusts(u *url.URL) bool {
	if u.Host == "" || u.User != nil {
		return false
	}
	own, err := url.Parse(o.APIURL)
	return u.Scheme == "https" || u.Scheme == "wss" || err == nil && own.Host == u.Host
}
