package command

import (
	"context"
	_ "time/tzdata" // so that zones are known on machines that have none

	"github.com/holdfast-ai/holdfast/activities"
	"github.com/holdfast-ai/holdfast/channels/http"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/dispatch"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/tool/schedule"
)

// newJobs makes what keeps the scheduled prompts.
func (n *node) newJobs(context.Context) error {
	n.jobs = schedule.New(scheduling(n.cfg, schedule.Options{
		Client: dispatch.New(n.client, n.cfg.Temporal.Namespace), Store: n.store, IsOperator: isOperator, Logger: n.log.With("component", "jobs"),
	}))
	return nil
}

// scheduling adds to options what the config says.
func scheduling(cfg config.Config, options schedule.Options) schedule.Options {
	options.CatchUp, options.Shortest = cfg.Jobs.CatchUp, cfg.Jobs.MinEvery
	options.Overlap = dispatch.Overlap(cfg.Jobs.Overlap)
	if cfg.Heartbeat.Enabled {
		options.Heartbeat = cfg.Heartbeat.Every
	}
	return options
}

// jobOptions are how the worker runs jobs.
func (n *node) jobOptions() activities.JobOptions {
	beat := n.cfg.Heartbeat
	_, push := n.push[beat.Channel]
	return activities.JobOptions{
		Overlap: dispatch.Overlap(n.cfg.Jobs.Overlap), IsActive: beat.IsActive,
		Route: store.Route{Channel: beat.Channel, Chat: beat.Chat, Push: push},
	}
}

// isOperator reports whether a message is from who runs this: the command line, or
// another client of the API that does not say in whose name it speaks.
func isOperator(route store.Route) bool {
	return route.Channel == http.Name && route.Sender == http.DefaultSender
}
