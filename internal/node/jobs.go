package node

import (
	"context"
	_ "time/tzdata" // for machines without a time zone database

	"github.com/holdfast-ai/holdfast/activities"
	"github.com/holdfast-ai/holdfast/channels/http"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/tool/schedule"
)

// newJobs creates the store of scheduled prompts.
func (n *Node) newJobs(context.Context) error {
	n.Jobs = schedule.New(Scheduling(n.Config, schedule.Options{
		Client: n.Temporal, Store: n.Store, IsOperator: isOperator, Logger: n.log.With("component", "jobs"),
	}))
	return nil
}

// Scheduling adds the configured settings to options.
func Scheduling(cfg config.Config, options schedule.Options) schedule.Options {
	options.CatchUp, options.Shortest = cfg.Jobs.CatchUp, cfg.Jobs.MinEvery
	options.Overlap = cfg.Jobs.Overlap
	if cfg.Heartbeat.Enabled {
		options.Heartbeat = cfg.Heartbeat.Every
	}
	return options
}

// jobOptions returns the options of the activities that run jobs.
func (n *Node) jobOptions() activities.JobOptions {
	beat := n.Config.Heartbeat
	_, push := n.push[beat.Channel]
	return activities.JobOptions{
		Overlap: n.Config.Jobs.Overlap, IsActive: beat.IsActive,
		Route: domain.Route{Channel: beat.Channel, Chat: beat.Chat, Push: push},
	}
}

// isOperator reports whether a message comes from the operator: from the command line or
// from another API client that does not name a sender.
func isOperator(route domain.Route) bool {
	return route.Channel == http.Name && route.Sender == http.DefaultSender
}
