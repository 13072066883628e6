package starter

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// HomeOptions are what [Starter.Home] needs to know. Without them nobody may decide
// approvals, and no jobs are shown.
type HomeOptions struct {
	// MayDecide reports whether a person on a channel may decide an approval.
	MayDecide func(a domain.Approval, channel, person string) bool
	// Job describes an active job.
	Job func(j domain.Job, now time.Time) domain.HomeJob
}

// Home implements [channels.Homes].
func (s *Starter) Home(ctx context.Context, channel, person string) (domain.Home, error) {
	waiting, err := s.o.Store.WaitingApprovals(ctx, domain.Route{})
	if err != nil {
		return domain.Home{}, fmt.Errorf("look for what waits for %s: %w", person, err)
	}
	home := domain.Home{Approvals: slices.DeleteFunc(waiting, func(a domain.Approval) bool {
		return s.o.Home.MayDecide == nil || !s.o.Home.MayDecide(a, channel, person)
	})}
	now := time.Now()
	if home.Jobs, err = s.jobsOf(ctx, channel, person, now); err != nil {
		return domain.Home{}, err
	}
	home.Today, home.Month, err = s.usageOf(ctx, person, now)
	return home, err
}

// jobsOf returns the active jobs that a person created.
func (s *Starter) jobsOf(ctx context.Context, channel, person string, now time.Time) ([]domain.HomeJob, error) {
	if s.o.Home.Job == nil {
		return nil, nil
	}
	all, err := s.o.Store.Jobs(ctx, "")
	if err != nil {
		return nil, fmt.Errorf("look for the jobs of %s: %w", person, err)
	}
	var theirs []domain.HomeJob
	for _, j := range all {
		if j.Route.Channel == channel && j.Route.Sender == person {
			theirs = append(theirs, s.o.Home.Job(j, now))
		}
	}
	return theirs, nil
}

// usageOf returns the usage for a person today and this month.
func (s *Starter) usageOf(ctx context.Context, person string, now time.Time) (today, month domain.Totals, err error) {
	first := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, now.Location())
	days, err := s.o.Store.Usage(ctx, store.UsageQuery{By: store.UsageByDay, Since: first, Sender: person, Zone: now.Location()})
	if err != nil {
		return today, month, fmt.Errorf("add up the usage of %s: %w", person, err)
	}
	for _, day := range days {
		month.Add(day.Totals)
		if day.Key == now.Format(time.DateOnly) {
			today = day.Totals
		}
	}
	return today, month, nil
}
