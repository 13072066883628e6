package qq

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// Name is the channel's name.
const Name = "qq"

// What Options.Mode may be.
const (
	ModeSocket = "socket" // we connect to QQ's gateway
	ModeHTTP   = "http"   // QQ connects to us: needs a public URL
)

// mediaHosts are where QQ keeps what people attach to messages.
var mediaHosts = []string{"qq.com", "qq.com.cn", "qpic.cn"}

// Options are the settings of the channel. See config.QQ for what they mean.
type Options struct {
	chat.Options
	Mode        string
	AppID       string
	Secret      string
	Listen      string // host:port of ModeHTTP
	Path        string // of ModeHTTP, such as /qq
	APIURL      string // empty: QQ's own
	TokenURL    string // where access tokens are issued; empty: QQ's own
	Markdown    bool
	TextLimit   int           // characters of a message; 0: 4,000
	NoticeAfter time.Duration // of work, until the chat is told that it takes longer; 0: never
}

func (o Options) withDefaults() Options {
	o.APIURL = cmp.Or(o.APIURL, "https://api.sgroup.qq.com")
	o.TokenURL = cmp.Or(o.TokenURL, "https://bots.qq.com/app/getAppAccessToken")
	o.TextLimit = cmp.Or(o.TextLimit, 4000)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	o.Respond, o.CommandPrefix, o.Drafts = chat.RespondMention, "/", false
	return o
}
