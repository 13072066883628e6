package config

// Values of Platform.Respond.
const (
	RespondMention = "mention" // messages that mention the bot
	RespondThread  = "thread"  // and all messages in threads that it takes part in
	RespondAll     = "all"     // all messages
)

// Platform are the settings that all chat platforms have. Which chats with several people
// are answered is in a setting that has the platform's word for them: allow_channels,
// allow_groups, allow_rooms.
type Platform struct {
	Enabled    bool     `yaml:"enabled"`
	AllowUsers []string `yaml:"allow_users"` // the platform's IDs; "*" for everyone, or for the members of the workspace
	AllowBots  []string `yaml:"allow_bots"`  // the platform's IDs
	Respond    string   `yaml:"respond"`
	Stream     bool     `yaml:"stream"`      // show replies while they are written
	MaxFileMB  int      `yaml:"max_file_mb"` // of an attached file
}

// defaultPlatform returns the defaults of what all chat platforms have.
func defaultPlatform() Platform {
	return Platform{AllowUsers: []string{}, AllowBots: []string{}, Respond: RespondThread, Stream: true, MaxFileMB: 20}
}

// chatPlatform are the settings of a chat platform.
type chatPlatform interface {
	// fillFrom sets what is missing from the platform's usual environment variables.
	fillFrom(env map[string]string)
	check(k *checker)
}

// platforms returns the settings of all chat platforms.
func (c *Channels) platforms() []chatPlatform {
	return []chatPlatform{&c.Slack, &c.WeChat, &c.Feishu, &c.Telegram, &c.Discord, &c.DingTalk, &c.QQ, &c.WhatsApp, &c.Matrix, &c.Mattermost, &c.Email, &c.Webhook}
}

// fill sets a setting that is empty.
func fill[T ~string](setting *T, value string) {
	if *setting == "" {
		*setting = T(value)
	}
}

// platform checks what all chat platforms have. at is their path, such as
// "channels.slack"; responds are the values that respond may have.
func (k *checker) platform(at string, p Platform, responds ...string) {
	k.oneOf(at+".respond", p.Respond, responds...)
	k.atLeastOne(at+".max_file_mb", p.MaxFileMB)
}
