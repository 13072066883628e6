package config

import "strings"

// Values of Feishu.Mode.
const (
	FeishuSocket  = "socket"  // we connect to Feishu
	FeishuWebhook = "webhook" // Feishu connects to us
)

// Values of Feishu.Domain.
const (
	FeishuChina  = "feishu"
	FeishuAbroad = "lark"
)

// Feishu are the settings of the channel for Feishu and Lark.
type Feishu struct {
	Platform          `yaml:",squash"`
	Mode              string   `yaml:"mode"`
	Domain            string   `yaml:"domain"`
	AppID             string   `yaml:"app_id"`
	AppSecret         Secret   `yaml:"app_secret"`
	EncryptKey        Secret   `yaml:"encrypt_key"`        // for FeishuWebhook
	VerificationToken Secret   `yaml:"verification_token"` // for FeishuWebhook
	Listen            string   `yaml:"listen"`             // host:port; for FeishuWebhook
	Path              string   `yaml:"path"`               // of the URL for events and callbacks
	APIURL            string   `yaml:"api_url"`            // empty: that of Domain
	AllowGroups       []string `yaml:"allow_groups"`       // IDs; "*" for all
	Topics            bool     `yaml:"topics"`             // an answer in a group opens a topic
}

func defaultFeishu() Feishu {
	return Feishu{
		Platform: defaultPlatform(), Mode: FeishuSocket, Domain: FeishuChina, Listen: "127.0.0.1:8093", Path: "/feishu", AllowGroups: []string{},
	}
}

func (f *Feishu) fillFrom(env map[string]string) {
	fill(&f.AppID, env["FEISHU_APP_ID"])
	fill(&f.AppSecret, env["FEISHU_APP_SECRET"])
	fill(&f.EncryptKey, env["FEISHU_ENCRYPT_KEY"])
	fill(&f.VerificationToken, env["FEISHU_VERIFICATION_TOKEN"])
}

func (f *Feishu) check(k *checker) {
	k.oneOf("channels.feishu.mode", f.Mode, FeishuSocket, FeishuWebhook)
	k.oneOf("channels.feishu.domain", f.Domain, FeishuChina, FeishuAbroad)
	k.platform("channels.feishu", f.Platform, RespondMention, RespondThread, RespondAll)
	if f.APIURL != "" {
		k.url("channels.feishu.api_url", f.APIURL)
	}
	k.when(!strings.HasPrefix(f.Path, "/"), "channels.feishu.path", "must begin with a slash, such as /feishu, not %q", f.Path)
	k.feishuIDs("channels.feishu.allow_users", f.AllowUsers, "ou_", true)
	k.feishuIDs("channels.feishu.allow_groups", f.AllowGroups, "oc_", true)
	k.feishuIDs("channels.feishu.allow_bots", f.AllowBots, "ou_", false)
	if !f.Enabled {
		return
	}
	k.when(f.AppID == "", "channels.feishu.app_id", "must be set, here or as FEISHU_APP_ID; see docs/feishu.md")
	k.when(f.AppSecret == "", "channels.feishu.app_secret", "must be set, here or as FEISHU_APP_SECRET; see docs/feishu.md")
	if f.Mode == FeishuWebhook {
		k.when(f.EncryptKey == "" && f.VerificationToken == "", "channels.feishu.encrypt_key",
			"must be set for mode: webhook, here or as FEISHU_ENCRYPT_KEY, or else channels.feishu.verification_token")
		k.hostPort("channels.feishu.listen", f.Listen, "127.0.0.1:8093")
	}
}

// feishuIDs checks a list of IDs, which begin with their kind. If all, "*" is accepted.
func (k *checker) feishuIDs(path string, ids []string, prefix string, all bool) {
	text := "has %q; must be IDs that begin with " + prefix
	if all {
		text += `, or "*" for all`
	}
	for _, id := range ids {
		k.when(!strings.HasPrefix(id, prefix) && (!all || id != "*"), path, text, id)
	}
}
