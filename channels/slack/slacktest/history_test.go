package slacktest_test

import (
	"slices"
	"testing"

	"github.com/slack-go/slack"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
)

func TestPagesOfHistory(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	api := client(s)
	var said []string
	for range 5 {
		said = append(said, s.Say(slacktest.Ana, slacktest.General, "hi").TS)
	}
	require.True(t, slices.IsSorted(said))
	var got []string
	cursor := ""
	for range 3 {
		page, err := api.GetConversationHistory(&slack.GetConversationHistoryParameters{ChannelID: slacktest.General, Limit: 2, Cursor: cursor})
		require.NoError(t, err)
		for _, m := range page.Messages {
			got = append(got, m.Timestamp)
		}
		cursor = page.ResponseMetaData.NextCursor
		require.Equal(t, cursor != "", page.HasMore)
		s.Say(slacktest.Ana, slacktest.General, "what comes meanwhile shifts nothing")
	}
	require.Empty(t, cursor)
	slices.Reverse(got)
	require.Equal(t, said, got)

	_, err := api.GetConversationHistory(&slack.GetConversationHistoryParameters{ChannelID: slacktest.General, Cursor: "nonsense"})
	require.EqualError(t, err, "invalid_cursor")
}

func TestPagesOfReplies(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	want := []string{s.Say(slacktest.Ana, slacktest.General, "root").TS}
	for range 4 {
		want = append(want, s.Say(slacktest.Ana, slacktest.General, "reply", slacktest.InThread(want[0])).TS)
	}
	var got []string
	cursor := ""
	for range 3 {
		page, more, next, err := client(s).GetConversationReplies(&slack.GetConversationRepliesParameters{
			ChannelID: slacktest.General, Timestamp: want[0], Limit: 2, Cursor: cursor,
		})
		require.NoError(t, err)
		for _, m := range page {
			got = append(got, m.Timestamp)
		}
		require.Equal(t, next != "", more)
		cursor = next
	}
	require.Equal(t, want, got)
	_, _, _, err := client(s).GetConversationReplies(&slack.GetConversationRepliesParameters{ChannelID: slacktest.General, Timestamp: "1712345678.000100"})
	require.EqualError(t, err, "thread_not_found")
}

func TestHistoryWithin(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	var said []string
	for range 4 {
		said = append(said, s.Say(slacktest.Ana, slacktest.General, "hi").TS)
	}
	for _, c := range []struct {
		oldest, latest string
		inclusive      bool
		want           []string
	}{
		{said[0], "", false, said[1:]},
		{said[0], "", true, said},
		{"", said[3], false, said[:3]},
		{said[1], said[2], true, said[1:3]},
		{said[1], said[2], false, nil},
		{"0", "9999999999", false, said},
	} {
		page, err := client(s).GetConversationHistory(&slack.GetConversationHistoryParameters{
			ChannelID: slacktest.General, Oldest: c.oldest, Latest: c.latest, Inclusive: c.inclusive,
		})
		require.NoError(t, err)
		var got []string
		for _, m := range slices.Backward(page.Messages) {
			got = append(got, m.Timestamp)
		}
		require.Equal(t, c.want, got, c)
	}
}
