package config

import (
	"strings"
	"time"
)

// Values of QQ.Mode.
const (
	QQSocket = "socket" // we connect to QQ
	QQHTTP   = "http"   // QQ connects to us
)

// QQ are the settings of the QQ channel.
type QQ struct {
	Enabled     bool          `yaml:"enabled"`
	Mode        string        `yaml:"mode"`
	AppID       string        `yaml:"app_id"`
	Secret      Secret        `yaml:"secret"`
	Listen      string        `yaml:"listen"` // host:port; for QQHTTP
	Path        string        `yaml:"path"`   // of the URL for events
	APIURL      string        `yaml:"api_url"`
	TokenURL    string        `yaml:"token_url"`    // where access tokens are issued
	AllowUsers  []string      `yaml:"allow_users"`  // openids; "*" for everyone
	AllowGroups []string      `yaml:"allow_groups"` // openids; "*" for all
	Markdown    bool          `yaml:"markdown"`     // send Markdown, which QQ grants to some bots
	TextLimit   int           `yaml:"text_limit"`   // characters of a message
	NoticeAfter time.Duration `yaml:"notice_after"` // of work, until the chat is told that it takes longer; 0: never
	MaxFileMB   int           `yaml:"max_file_mb"`  // of an attached file
}

func defaultQQ() QQ {
	return QQ{
		Mode: QQSocket, Listen: "127.0.0.1:8097", Path: "/qq", APIURL: "https://api.sgroup.qq.com", TokenURL: "https://bots.qq.com/app/getAppAccessToken",
		AllowUsers: []string{}, AllowGroups: []string{}, TextLimit: 4000, NoticeAfter: time.Minute, MaxFileMB: 20,
	}
}

func (q *QQ) fillFrom(env map[string]string) {
	fill(&q.AppID, env["QQ_APP_ID"])
	fill(&q.Secret, env["QQ_SECRET"])
}

func (q *QQ) check(k *checker) {
	k.oneOf("channels.qq.mode", q.Mode, QQSocket, QQHTTP)
	k.url("channels.qq.api_url", q.APIURL)
	k.url("channels.qq.token_url", q.TokenURL)
	k.when(!strings.HasPrefix(q.Path, "/"), "channels.qq.path", "must begin with a slash, such as /qq, not %q", q.Path)
	k.when(q.TextLimit < 500, "channels.qq.text_limit", "must be at least 500, not %d", q.TextLimit)
	k.when(q.NoticeAfter < 0, "channels.qq.notice_after", "must not be negative")
	k.atLeastOne("channels.qq.max_file_mb", q.MaxFileMB)
	if !q.Enabled {
		return
	}
	k.when(q.AppID == "", "channels.qq.app_id", "must be set, here or as QQ_APP_ID; see docs/qq.md")
	k.when(q.Secret == "", "channels.qq.secret", "must be set, here or as QQ_SECRET")
	if q.Mode == QQHTTP {
		k.hostPort("channels.qq.listen", q.Listen, "127.0.0.1:8097")
	}
}
