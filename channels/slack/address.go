package slack

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
)

// actionID returns Slack's ID of an action.
func actionID(a chat.Action) string { return "holdfast_" + string(a) }

// chatOf returns the chat that a channel is in the rest of the program: TEAM/CHANNEL.
func chatOf(team, channel string) string { return team + "/" + channel }

// channelOf returns Slack's ID of a chat.
func channelOf(chat string) string { return chat[strings.LastIndexByte(chat, '/')+1:] }

// isDirect reports whether Slack's ID of a channel is that of a direct message.
func isDirect(channel string) bool { return strings.HasPrefix(channel, "D") }

// IsDirect reports whether a chat is a direct message with one person.
func IsDirect(chat string) bool { return isDirect(channelOf(chat)) }

// IsDirect implements [chat.Directs].
func (*platform) IsDirect(chat string) bool { return IsDirect(chat) }

var (
	// namedChat is a channel (C), a private one (G) or a direct message (D), with or without
	// its workspace.
	namedChat = regexp.MustCompile(`^([TE][A-Z0-9]+/)?[CGD][A-Z0-9]+$`)
	// namedThread is Slack's ID of the message that began a thread.
	namedThread = regexp.MustCompile(`^[0-9]+\.[0-9]+$`)
)

const (
	chatForm = "the Slack ID of a channel or direct message, such as C012ABC, not a user ID or a name " +
		"(click the channel's name in Slack; the ID is at the bottom of the dialog)"
	threadForm = "the ID of the thread's first message, such as 1712345678.123456 " +
		"(its link in Slack ends with p1712345678123456)"
)

// Locate implements [channels.Locator]. It asks Slack for the workspace if that is left
// out.
func (p *platform) Locate(ctx context.Context, chat, thread string) (string, error) {
	switch {
	case !namedChat.MatchString(chat):
		return "", channels.MalformedError{What: "chat", Value: chat, Want: chatForm}
	case thread != "" && !namedThread.MatchString(thread):
		return "", channels.MalformedError{What: "thread", Value: thread, Want: threadForm}
	case strings.Contains(chat, "/"):
		return chat, nil
	}
	self, err := p.self(ctx)
	if err != nil {
		return "", fmt.Errorf("look up the workspace of %s (or give it, as in T012ABC/%s): %w", chat, chat, err)
	}
	return chatOf(self.TeamID, chat), nil
}
