package config

import "time"

// WeChat are the settings of the WeChat channel. Its login is in the store.
type WeChat struct {
	Enabled    bool          `yaml:"enabled"`
	APIURL     string        `yaml:"api_url"`
	CDNURL     string        `yaml:"cdn_url"`     // of files
	AllowUsers []string      `yaml:"allow_users"` // WeChat's IDs; "*" for everyone
	Window     time.Duration `yaml:"window"`      // how long after a person's message they can be written to
	Replies    int           `yaml:"replies"`     // how many messages may follow one of a person's
	Pause      time.Duration `yaml:"pause"`       // between two messages
	MaxFileMB  int           `yaml:"max_file_mb"` // of an attached file
}

func defaultWeChat() WeChat {
	return WeChat{
		APIURL: "https://ilinkai.weixin.qq.com", CDNURL: "https://novac2c.cdn.weixin.qq.com/c2c", AllowUsers: []string{},
		Window: day, Replies: 10, Pause: time.Second, MaxFileMB: 20,
	}
}

func (*WeChat) fillFrom(map[string]string) {}

func (w *WeChat) check(k *checker) {
	k.url("channels.wechat.api_url", w.APIURL)
	k.url("channels.wechat.cdn_url", w.CDNURL)
	k.atLeastOne("channels.wechat.replies", w.Replies)
	k.atLeastOne("channels.wechat.max_file_mb", w.MaxFileMB)
	k.when(w.Window <= 0, "channels.wechat.window", "must be more than 0, such as 24h")
	k.when(w.Pause < 0, "channels.wechat.pause", "must not be negative")
}
