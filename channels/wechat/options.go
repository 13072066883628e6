package wechat

import (
	"log/slog"
	"net/url"
	"strings"
	"time"
)

// Name is the channel's name.
const Name = "wechat"

// Where Tencent serves the bot API and its files.
const (
	DefaultAPIURL = "https://ilinkai.weixin.qq.com"
	DefaultCDNURL = "https://novac2c.cdn.weixin.qq.com/c2c"
)

// Options are the settings of the channel. See config.WeChat for what they mean.
type Options struct {
	APIURL     string // where a login begins; it names the address of everything else
	CDNURL     string
	AllowUsers []string
	Window     time.Duration // how long after a person's message they can be written to
	Replies    int           // how many messages may follow one of a person's
	Pause      time.Duration // between two messages that we send
	FileLimit  int64         // bytes of an attached file
	Version    string        // of Holdfast, as WeChat is told it
	Logger     *slog.Logger
}

// trusts reports whether an address that WeChat's servers named may be called: its own
// hosts, and those of the configured addresses.
func (o Options) trusts(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil {
		return false
	}
	for _, ours := range []string{o.APIURL, o.CDNURL} {
		if own, err := url.Parse(ours); err == nil && own.Scheme == u.Scheme && strings.EqualFold(own.Host, u.Host) {
			return true
		}
	}
	host := strings.ToLower(u.Hostname())
	return u.Scheme == "https" && (strings.HasSuffix(host, ".qq.com") || strings.HasSuffix(host, ".wechat.com"))
}
