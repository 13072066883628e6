package node

import (
	"context"
	_ "time/tzdata" // so that zones are known on machines that have none

	"github.com/holdfast-ai/holdfast/activities"
	"github.com/holdfast-ai/holdfast/channels/http"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/dispatch"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/tool/schedule"
)

// newJobs makes what keeps the scheduled prompts.
func (n *Node) newJobs(context.Context) error {
	n.Jobs = schedule.New(Scheduling(n.Config, schedule.Options{
		Client: n.Temporal, Store: n.Store, IsOperator: isOperator, Logger: n.log.With("component", "jobs"),
	}))
	return nil
}

// Scheduling adds to options what the config says.
func Scheduling(cfg config.Config, options schedule.Options) schedule.Options {
	options.CatchUp, options.Shortest = cfg.Jobs.CatchUp, cfg.Jobs.MinEvery
	options.Overlap = dispatch.Overlap(cfg.Jobs.Overlap)
	if cfg.Heartbeat.Enabled {
		options.Heartbeat = cfg.Heartbeat.Every
	}
	return options
}

// jobOptions are how the worker runs jobs.
func (n *Node) jobOptions() activities.JobOptions {
	beat := n.Config.Heartbeat
	_, push := n.push[beat.Channel]
	return activities.JobOptions{
		Overlap: dispatch.Overlap(n.Config.Jobs.Overlap), IsActive: beat.IsActive,
		Route: domain.Route{Channel: beat.Channel, Chat: beat.Chat, Push: push},
	}
}

// isOperator reports whether a message is from who runs this: the command line, or
// another client of the API that does not say in whose name it speaks.
func isOperator(route domain.Route) bool {
	return route.Channel == http.Name && route.Sender == http.DefaultSender
}
