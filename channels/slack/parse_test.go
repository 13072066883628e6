package slack_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack"
)

func TestTheTimeToSplitGrowsWithTheText(t *testing.T) {
	c, err := slack.New(slack.Options{BotToken: "xoxb-1"})
	require.NoError(t, err)
	took := func(characters int) time.Duration {
		text := strings.Repeat("*a_ ", characters/4)
		began := time.Now()
		c.Split(text)
		return time.Since(began)
	}
	took(12_000) // what has to be made once is made
	var once, six time.Duration
	for range 5 { // something else may have held it up
		if once, six = took(12_000), took(72_000); six < 11*once {
			return
		}
	}
	require.Less(t, six, 11*once, "36 times as long is the square")
}

func TestTextsThatAreNotParsed(t *testing.T) {
	t.Parallel()

	t.Run("one that is too long is escaped", func(t *testing.T) {
		t.Parallel()
		long := "**a** <!channel> @here" + strings.Repeat(" b", 6_000)
		require.Contains(t, slack.Mrkdwn(long), "**a** &lt;!channel&gt; @\u200bhere b b")
		require.Contains(t, slack.BlockText(long), "**a** &lt;!channel> @\u200bhere b b")
	})

	t.Run("a table with thousands of cells", func(t *testing.T) {
		t.Parallel()
		table := func(columns, rows int) string {
			return "|" + strings.Repeat("a|", columns) + "\n|" + strings.Repeat("-|", columns) + "\n" + strings.Repeat("|\n", rows)
		}
		require.Contains(t, slack.Mrkdwn(table(50, 50)), "```\n| a | a |")
		require.True(t, strings.HasPrefix(slack.Mrkdwn(table(1_000, 2_000)), "|a|a|"))
	})

	t.Run("quotes within quotes, from a certain depth on", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, strings.Repeat("> ", 50)+strings.Repeat("&gt; ", 9)+"a", slack.Mrkdwn(strings.Repeat("> ", 59)+"a"))
	})
}

func TestLongCodeInALongTextIsOneFile(t *testing.T) {
	t.Parallel()
	words := strings.Repeat("Some words. ", 2_000)
	code := lines(2_000)
	parts := split(t, words+"\n\n- one\n- ```sh\n  ls\n  ```\n\n```go\n"+code+"```\n\n"+words)
	files := 0
	for _, part := range parts {
		if part.File == "" {
			require.NotContains(t, part.Text, "line 1")
			continue
		}
		files++
		require.Equal(t, code, part.Text)
		require.Equal(t, "snippet-1.go", part.File)
	}
	require.Equal(t, 1, files)
}
