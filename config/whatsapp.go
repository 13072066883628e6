package config

import (
	"strings"
	"time"
)

// WhatsApp are the settings of the WhatsApp channel.
type WhatsApp struct {
	Enabled       bool          `yaml:"enabled"`
	PhoneNumberID string        `yaml:"phone_number_id"` // Meta's ID of the business number
	AccessToken   Secret        `yaml:"access_token"`
	AppSecret     Secret        `yaml:"app_secret"`   // signs Meta's requests
	VerifyToken   Secret        `yaml:"verify_token"` // ours, entered where the webhook is
	Listen        string        `yaml:"listen"`       // host:port
	Path          string        `yaml:"path"`         // of the webhook's URL
	APIURL        string        `yaml:"api_url"`      // with the version
	AllowUsers    []string      `yaml:"allow_users"`  // phone numbers or Meta's IDs of people; "*" for everyone
	ReportWait    time.Duration `yaml:"report_wait"`  // until a message whose outcome is unknown is sent again
	MaxFileMB     int           `yaml:"max_file_mb"`  // of an attached file
}

func defaultWhatsApp() WhatsApp {
	return WhatsApp{
		Listen: "127.0.0.1:8098", Path: "/whatsapp", APIURL: "https://graph.facebook.com/v23.0", AllowUsers: []string{},
		ReportWait: time.Minute, MaxFileMB: 20,
	}
}

func (w *WhatsApp) fillFrom(env map[string]string) {
	fill(&w.PhoneNumberID, env["WHATSAPP_PHONE_NUMBER_ID"])
	fill(&w.AccessToken, env["WHATSAPP_ACCESS_TOKEN"])
	fill(&w.AppSecret, env["WHATSAPP_APP_SECRET"])
	fill(&w.VerifyToken, env["WHATSAPP_VERIFY_TOKEN"])
}

func (w *WhatsApp) check(k *checker) {
	k.url("channels.whatsapp.api_url", w.APIURL)
	k.when(!strings.HasPrefix(w.Path, "/"), "channels.whatsapp.path", "must begin with a slash, such as /whatsapp, not %q", w.Path)
	k.when(w.ReportWait < time.Second, "channels.whatsapp.report_wait", "must be at least 1s, not %s", w.ReportWait)
	k.atLeastOne("channels.whatsapp.max_file_mb", w.MaxFileMB)
	if !w.Enabled {
		return
	}
	k.when(w.PhoneNumberID == "", "channels.whatsapp.phone_number_id", "must be set, here or as WHATSAPP_PHONE_NUMBER_ID; see docs/whatsapp.md")
	k.when(w.AccessToken == "", "channels.whatsapp.access_token", "must be set, here or as WHATSAPP_ACCESS_TOKEN")
	k.when(w.AppSecret == "", "channels.whatsapp.app_secret", "must be set, here or as WHATSAPP_APP_SECRET")
	k.when(w.VerifyToken == "", "channels.whatsapp.verify_token", "must be set, here or as WHATSAPP_VERIFY_TOKEN")
	k.hostPort("channels.whatsapp.listen", w.Listen, "127.0.0.1:8098")
}
