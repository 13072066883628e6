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

// platformID is a message as the rest of us knows it: CHANNEL/TS.
func platformID(channel, ts string) string { return channel + "/" + ts }

// message is the inverse of platformID: both empty if id is none.
func message(id string) (channel, ts string) {
	channel, ts, found := strings.Cut(id, "/")
	if !found {
		return "", ""
	}
	return channel, ts
}

// IsDirect reports whether a chat is a direct message with one person.
func IsDirect(chat string) bool { return isDirect(channelOf(chat)) }
