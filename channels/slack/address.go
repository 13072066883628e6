package slack

import "strings"

// chatOf is a chat as the rest of us knows it: TEAM/CHANNEL.
func chatOf(team, channel string) string { return team + "/" + channel }

// channelOf is Slack's ID of a chat.
func channelOf(chat string) string {
	_, channel, found := strings.Cut(chat, "/")
	if !found {
		return chat
	}
	return channel
}

// isDirect reports whether Slack's ID of a channel is that of a direct message.
func isDirect(channel string) bool { return strings.HasPrefix(channel, "D") }
