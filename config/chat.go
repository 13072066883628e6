package config

import (
	"slices"
	"strings"
)

// Chat are the settings of one chat, and of the jobs and subagents that work for it. What is
// empty is as everywhere.
type Chat struct {
	Respond   string   `yaml:"respond"`   // as in [Platform]
	Model     string   `yaml:"model"`     // "provider/model"; people can choose another with /model
	Tools     []string `yaml:"tools"`     // names or patterns of the tools that the agent has; empty: all
	Approvers []string `yaml:"approvers"` // CHANNEL:SENDER, as in [Approvals]
	Prompt    string   `yaml:"prompt"`    // further instructions
}

// Chat returns the settings of a chat of a platform. chat is the platform's ID, with or
// without a workspace before it.
func (c Channels) Chat(channel, chat string) (Chat, bool) {
	for _, id := range []string{chat, chat[strings.LastIndexByte(chat, '/')+1:]} {
		if settings, ok := c.Chats[chatKey(channel, id)]; ok {
			return settings, true
		}
	}
	return Chat{}, false
}

// chatKey returns the key of a chat's settings: keys are read in lower case.
func chatKey(channel, chat string) string { return strings.ToLower(channel + ":" + chat) }

// RespondIn returns the chats of a platform, in lower case, in which other messages are
// answered than elsewhere, and which.
func (c Channels) RespondIn(channel string) map[string]string {
	responds := map[string]string{}
	for key, chat := range c.Chats {
		if id, is := strings.CutPrefix(key, channel+":"); is && chat.Respond != "" {
			responds[id] = chat.Respond
		}
	}
	return responds
}

func (k *checker) chats(chats map[string]Chat) {
	for key, chat := range chats {
		at := "channels.chats." + key
		channel, id, _ := strings.Cut(key, ":")
		k.when(channel == "" || id == "", at, "must be of the form slack:C012ABC")
		if chat.Respond != "" {
			k.oneOf(at+".respond", chat.Respond, RespondMention, RespondThread, RespondAll)
		}
		k.when(chat.Model != "" && !strings.Contains(chat.Model, "/"), at+".model", "must be of the form provider/model, not %q", chat.Model)
		k.when(slices.Contains(chat.Tools, ""), at+".tools", "has an empty name")
		k.approvers(at+".approvers", chat.Approvers)
	}
}
