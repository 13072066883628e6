package command

import (
	"cmp"
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/tool/schedule"
)

func jobsCommand(env environment) *cobra.Command {
	return newGroup("jobs", "Show and change scheduled prompts",
		append(jobChangeCommands(env), jobsListCommand(env), jobsAddCommand(env))...)
}

func jobsListCommand(env environment) *cobra.Command {
	var (
		all    bool
		asJSON *bool
	)
	cmd := newCommand("list", "List jobs; `holdfast sessions show SESSION` shows what a job did", func(cmd *cobra.Command, _ []string) error {
		return withStore(cmd.Context(), env, func(_ config.Config, stored *store.Store) error {
			rows, err := jobRows(cmd.Context(), stored, all, time.Now())
			if err != nil {
				return err
			}
			head, cells := "JOB\tNAME\tWHEN\tNEXT\tLAST RUN\tREPLY\tADDED IN", jobRow.cells
			if all {
				head, cells = head+"\tENDED\tRUNS IN", jobRow.allCells
			}
			return printList(cmd.OutOrStdout(), *asJSON, rows, "no jobs; add one with `holdfast jobs add`, or ask the agent", head, cells)
		})
	})
	cmd.Flags().BoolVar(&all, "all", false, "include ended jobs, and show the session that each job runs in")
	asJSON = jsonFlag(cmd)
	return cmd
}

// jobRow is a job in a list.
type jobRow struct {
	domain.Job
	RunsIn  string    `json:"runs_in"` // session
	Channel string    `json:"channel,omitempty"`
	Chat    string    `json:"chat,omitempty"`
	Thread  string    `json:"thread,omitempty"`
	NextAt  time.Time `json:"next_at,omitzero"`
	Status  string    `json:"status,omitempty"` // of the last turn
	Reply   string    `json:"reply,omitempty"`  // of the last turn
}

// jobRows returns the active jobs, or with all also the ended ones.
func jobRows(ctx context.Context, stored *store.Store, all bool, now time.Time) (rows []jobRow, err error) {
	read := func(ctx context.Context) ([]domain.Job, error) { return stored.Jobs(ctx, "") }
	if all {
		read = stored.AllJobs
	}
	jobs, err := read(ctx)
	if err != nil {
		return nil, err
	}
	for _, j := range jobs {
		row := jobRow{Job: j, RunsIn: j.RunsIn(), Channel: j.Route.Channel, Chat: j.Route.Chat, Thread: j.Route.Thread}
		if !j.Paused && j.EndedAt.IsZero() {
			row.NextAt = schedule.Next(j, now)
		}
		if row.Status, row.Reply, err = lastRun(ctx, stored, j.ID); err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// lastRun returns how the last turn of a job ended; empty if it never ran.
func lastRun(ctx context.Context, stored *store.Store, job string) (status, reply string, err error) {
	turns, err := stored.JobTurns(ctx, job, 1)
	if err != nil || len(turns) == 0 {
		return "", "", err
	}
	undelivered, err := stored.Undelivered(ctx, turns[0].Session)
	if why := undelivered[turns[0].ID]; why != "" {
		return "undelivered", "not delivered: " + why, err
	}
	return string(turns[0].Status), turns[0].Reply, err
}

// replyShown bounds a reply in a list, in bytes.
const replyShown = 60

func (r jobRow) cells() []any {
	next := "-"
	switch {
	case !r.NextAt.IsZero():
		next = schedule.Stamp(r.Job, r.NextAt)
	case r.Removed:
		next = "removed"
	case !r.EndedAt.IsZero():
		next = "ended"
	case r.Paused:
		next = "paused"
	}
	return []any{
		r.ID, oneLine(r.Label(), keyLimit), schedule.When(r.Job), next, shownTime(r.FiredAt),
		oneLine(cmp.Or(r.Reply, r.Status), replyShown), oneLine(r.Session, keyLimit),
	}
}

func (r jobRow) allCells() []any {
	return append(r.cells(), shownTime(r.EndedAt), oneLine(r.RunsIn, keyLimit))
}
