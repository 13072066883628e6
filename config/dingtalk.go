package config

// DingTalk are the settings of the DingTalk channel.
type DingTalk struct {
	Platform     `yaml:",squash"`
	ClientID     string   `yaml:"client_id"`
	ClientSecret Secret   `yaml:"client_secret"`
	RobotCode    string   `yaml:"robot_code"`    // empty: the client ID
	CardTemplate string   `yaml:"card_template"` // of replies; empty: they are plain messages
	CardKey      string   `yaml:"card_key"`      // the template's variable with the text
	APIURL       string   `yaml:"api_url"`
	UploadURL    string   `yaml:"upload_url"`   // of files
	AllowGroups  []string `yaml:"allow_groups"` // DingTalk's IDs; "*" for all
}

func defaultDingTalk() DingTalk {
	d := DingTalk{
		Platform: defaultPlatform(), CardKey: "content", APIURL: "https://api.dingtalk.com", UploadURL: "https://oapi.dingtalk.com", AllowGroups: []string{},
	}
	d.Respond = RespondMention
	return d
}

func (d *DingTalk) fillFrom(env map[string]string) {
	fill(&d.ClientID, env["DINGTALK_CLIENT_ID"])
	fill(&d.ClientSecret, env["DINGTALK_CLIENT_SECRET"])
}

func (d *DingTalk) check(k *checker) {
	k.platform("channels.dingtalk", d.Platform, RespondMention, RespondAll)
	k.url("channels.dingtalk.api_url", d.APIURL)
	k.url("channels.dingtalk.upload_url", d.UploadURL)
	if !d.Enabled {
		return
	}
	k.when(d.ClientID == "", "channels.dingtalk.client_id", "must be set, here or as DINGTALK_CLIENT_ID; see docs/dingtalk.md")
	k.when(d.ClientSecret == "", "channels.dingtalk.client_secret", "must be set, here or as DINGTALK_CLIENT_SECRET")
}
