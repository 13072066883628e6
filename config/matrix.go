package config

import (
	"regexp"
	"strings"
)

// Matrix are the settings of the Matrix channel.
type Matrix struct {
	Platform    `yaml:",squash"`
	Homeserver  string   `yaml:"homeserver"`   // its address, or the name in user IDs
	AccessToken Secret   `yaml:"access_token"` // of the account's own login
	AllowRooms  []string `yaml:"allow_rooms"`  // IDs; "*" for all
}

func defaultMatrix() Matrix { return Matrix{Platform: defaultPlatform(), AllowRooms: []string{}} }

func (m *Matrix) fillFrom(env map[string]string) {
	fill(&m.Homeserver, env["MATRIX_HOMESERVER"])
	fill(&m.AccessToken, env["MATRIX_ACCESS_TOKEN"])
}

var (
	matrixServer = regexp.MustCompile(`^([A-Za-z0-9.-]+(:[0-9]+)?)?$`)
	matrixUser   = regexp.MustCompile(`^(\*|@[^:\s]*:\S+)$`)
	matrixRoom   = regexp.MustCompile(`^(\*|!\S+)$`)
	matrixBot    = regexp.MustCompile(`^@[^:\s]*:\S+$`)
)

func (m *Matrix) check(k *checker) {
	k.platform("channels.matrix", m.Platform, RespondMention, RespondThread, RespondAll)
	if strings.Contains(m.Homeserver, "/") {
		k.url("channels.matrix.homeserver", m.Homeserver)
	} else {
		k.when(!matrixServer.MatchString(m.Homeserver), "channels.matrix.homeserver", "must be an address such as https://matrix.example.org, or a name such as example.org")
	}
	k.matching("channels.matrix.allow_users", m.AllowUsers, matrixUser, `the IDs of people, such as @ana:example.org, or "*" for all`)
	k.matching("channels.matrix.allow_rooms", m.AllowRooms, matrixRoom, `the IDs of rooms, such as !abcdef:example.org, or "*" for all`)
	k.matching("channels.matrix.allow_bots", m.AllowBots, matrixBot, "the IDs of bots, such as @bot:example.org")
	if !m.Enabled {
		return
	}
	k.when(m.Homeserver == "", "channels.matrix.homeserver", "must be set, here or as MATRIX_HOMESERVER; see docs/matrix.md")
	k.when(m.AccessToken == "", "channels.matrix.access_token", "must be set, here or as MATRIX_ACCESS_TOKEN; see docs/matrix.md")
}
