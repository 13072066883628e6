package node

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

func TestWhoDecidesOnTheirPage(t *testing.T) {
	t.Parallel()
	c := config.Default(t.TempDir())
	c.Channels.Chats = map[string]config.Chat{"slack:c1": {Approvers: []string{"slack:UBOSS"}}}
	home, err := homeOptions(c)
	require.NoError(t, err)
	asked := domain.Approval{Channel: "slack", Chat: "T1/C2", Sender: "UANA"}
	require.True(t, home.MayDecide(asked, "slack", "UANA"))
	require.False(t, home.MayDecide(asked, "telegram", "UANA"))
	require.False(t, home.MayDecide(asked, "slack", "UBOSS"))
	asked.Chat = "T1/C1"
	require.True(t, home.MayDecide(asked, "slack", "UBOSS"))
	require.False(t, home.MayDecide(asked, "slack", "UANA"), "the chat has approvers")
}

func TestAJobOnAPage(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 2, 15, 0, 0, 0, time.UTC)
	job := domain.Job{Name: "plants", Kind: domain.JobEvery, Spec: "3600", Zone: "UTC", CreatedAt: at}
	require.Equal(t, domain.HomeJob{Label: "plants", When: "every 1h", Next: "Mon 2026-03-02 16:00:00 UTC"}, homeJob(job, at))
	job.Paused = true
	require.Equal(t, domain.HomeJob{Label: "plants", When: "every 1h, paused"}, homeJob(job, at))
}
