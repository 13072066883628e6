package wechat

import (
	"log/slog"
	"net/url"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat/web"
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
	at, err := url.Parse(address)
	return err == nil && o.hosts()(at)
}

func (o Options) hosts() func(*url.URL) bool {
	return web.Hosts([]string{"qq.com", "wechat.com"}, o.APIURL, o.CDNURL)
}
