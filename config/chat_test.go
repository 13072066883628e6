package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/config"
)

func TestSettingsOfAChat(t *testing.T) {
	t.Parallel()
	cfg, err := load("channels:\n  chats:\n    slack:C012ABC: {respond: all, model: a/b, prompt: Be brief}\n    feishu:oc_1: {tools: [exec]}\n")
	require.NoError(t, err)
	for _, chat := range []string{"C012ABC", "T1/C012ABC"} {
		got, ok := cfg.Channels.Chat("slack", chat)
		require.True(t, ok)
		require.Equal(t, "Be brief", got.Prompt)
	}
	got, ok := cfg.Channels.Chat("feishu", "oc_1")
	require.True(t, ok)
	require.Equal(t, []string{"exec"}, got.Tools)
	_, ok = cfg.Channels.Chat("feishu", "C012ABC")
	require.False(t, ok)
	require.Equal(t, map[string]string{"c012abc": "all"}, cfg.Channels.RespondIn("slack"))
}

func TestInvalidSettingsOfAChat(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"C012ABC: {respond: all}":           "must be of the form slack:C012ABC",
		"slack:C1: {respond: never}":        "respond",
		"slack:C1: {model: gpt}":            "provider/model",
		"slack:C1: {approvers: [U012ABC]}":  "slack:U012ABC",
		"slack:C1: {tools: [\"\"]}":         "empty name",
		"slack:C1: {prompts: one too many}": "unknown setting",
	} {
		_, err := load("channels:\n  chats:\n    " + text + "\n")
		require.ErrorContains(t, err, want, text)
	}
	require.Empty(t, config.Default("/h").Channels.Chats)
}
