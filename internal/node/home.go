package node

import (
	"time"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/tool/schedule"
	"github.com/holdfast-ai/holdfast/starter"
)

// homeOptions returns what the pages of people show.
func homeOptions(c config.Config) (starter.HomeOptions, error) {
	usual, err := c.Approvals.Policy()
	if err != nil {
		return starter.HomeOptions{}, err
	}
	mayDecide := func(a domain.Approval, channel, person string) bool {
		policy := usual
		if settings := chatSettings(c.Channels); settings != nil {
			policy = policy.WithApprovers(settings(domain.Route{Channel: a.Channel, Chat: a.Chat}).Approvers)
		}
		return policy.May(channel, person, a.Channel, a.Sender)
	}
	return starter.HomeOptions{MayDecide: mayDecide, Job: homeJob}, nil
}

func homeJob(j domain.Job, now time.Time) domain.HomeJob {
	shown := domain.HomeJob{Label: j.Label(), When: schedule.When(j)}
	if next := schedule.Next(j, now); j.Paused {
		shown.When += ", paused"
	} else if !next.IsZero() {
		shown.Next = schedule.Stamp(j, next)
	}
	return shown
}
