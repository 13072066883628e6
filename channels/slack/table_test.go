package slack_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
)

// tableBlock is a table as Slack has it.
type tableBlock struct {
	Type string
	Text string
	Rows [][]struct{ Type, Text string }

	Settings []struct {
		Align string
	} `json:"column_settings"`
}

func tableBlocks(t *testing.T, m slacktest.Message) []tableBlock {
	t.Helper()
	var parts []tableBlock
	require.NoError(t, json.Unmarshal(m.Blocks, &parts))
	return parts
}

const withATable = "The numbers:\n\n| name | n |\n|:-----|--:|\n| **a** @here | 1 |\n| b | |\n\nThat is all."

func TestATableIsSlacks(t *testing.T) {
	t.Parallel()
	s := sendingTo(t, slack.Options{}, slacktest.WithoutEcho())
	thread := s.asked()
	s.send(outgoing("o1", thread, withATable))
	m := s.Posted()[0]
	parts := tableBlocks(t, m)
	require.Len(t, parts, 3)
	require.Equal(t, "The numbers:", parts[0].Text)
	require.Equal(t, "table", parts[1].Type)
	require.Equal(t, [][]struct{ Type, Text string }{
		{{"raw_text", "name"}, {"raw_text", "n"}},
		{{"raw_text", "a @\u200bhere"}, {"raw_text", "1"}},
		{{"raw_text", "b"}, {"raw_text", "\u00a0"}},
	}, parts[1].Rows)
	require.Equal(t, []struct{ Align string }{{"left"}, {"right"}}, parts[1].Settings)
	require.Equal(t, "That is all.", parts[2].Text)
	require.Contains(t, m.Text, "| name")

	// A reply takes over its draft with a table, too.
	reply := outgoing("o2", thread, "| a |\n|---|\n| 1 |")
	reply.Draft = s.draft("o2", thread)
	s.send(reply)
	parts = tableBlocks(t, s.Posted()[1])
	require.Len(t, parts, 1)
	require.Equal(t, "table", parts[0].Type)
}

func TestTablesThatAreDrawn(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"two":               withATable + "\n\n" + withATable,
		"in a list":         "- a list\n\n  | a |\n  |---|\n  | 1 |\n",
		"too many rows":     "| a |\n|---|\n" + strings.Repeat("| 1 |\n", 100),
		"too many columns":  "|" + strings.Repeat(" a |", 21) + "\n|" + strings.Repeat("---|", 21) + "\n",
		"one with the rest": "| a |\n|---|\n| 1 |\n\n> | b |\n> |---|\n> | 2 |\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sendingTo(t, slack.Options{}, slacktest.WithoutEcho())
			s.send(outgoing("o1", s.asked(), text))
			parts := tableBlocks(t, s.Posted()[0])
			require.Len(t, parts, 1)
			require.Equal(t, "markdown", parts[0].Type)
			require.Contains(t, parts[0].Text, "```")
		})
	}

	t.Run("where Slack takes none", func(t *testing.T) {
		t.Parallel()
		s := sendingTo(t, slack.Options{}, slacktest.WithoutEcho())
		s.Fail("chat.postMessage", 1, slacktest.Fault{Error: "invalid_blocks"})
		s.send(outgoing("o1", s.asked(), withATable))
		parts := tableBlocks(t, s.Posted()[0])
		require.Len(t, parts, 1)
		require.Contains(t, parts[0].Text, "```")
	})
}
