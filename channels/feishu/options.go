package feishu

import (
	"cmp"
	"log/slog"
	"strings"
)

// Name is the channel's name.
const Name = "feishu"

// What Options.Mode may be.
const (
	ModeSocket  = "socket"  // we connect to the platform
	ModeWebhook = "webhook" // the platform connects to us
)

// What Options.Domain may be.
const (
	DomainFeishu = "feishu" // in China
	DomainLark   = "lark"   // elsewhere
)

// addresses are the platform's addresses by domain.
var addresses = map[string]string{DomainFeishu: "https://open.feishu.cn", DomainLark: "https://open.larksuite.com"}

// Options are the settings of the channel. See config.Feishu for what they mean.
type Options struct {
	Mode              string
	Domain            string
	APIURL            string // empty: that of Domain
	AppID             string
	AppSecret         string
	EncryptKey        string
	VerificationToken string
	Listen            string // host:port of ModeWebhook
	Path              string // of ModeWebhook, such as /feishu
	AllowUsers        []string
	AllowGroups       []string
	AllowBots         []string
	Respond           string
	Topics            bool // an answer in a group opens a topic
	Stream            bool
	FileLimit         int64 // bytes of an attached file
	Logger            *slog.Logger
}

// base returns the address of the API, without a trailing slash.
func (o Options) base() string {
	return strings.TrimSuffix(cmp.Or(o.APIURL, addresses[o.Domain], addresses[DomainFeishu]), "/")
}
