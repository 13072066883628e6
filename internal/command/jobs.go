package command

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/tool/schedule"
)

func jobsCommand(env environment) *cobra.Command {
	parent := &cobra.Command{
		Use:   "jobs",
		Short: "Show and change scheduled prompts",
	}
	parent.AddCommand(jobsListCommand(env), jobsAddCommand(env))
	parent.AddCommand(jobChangeCommands(env)...)
	return parent
}

func jobsListCommand(env environment) *cobra.Command {
	var all, asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List jobs; `holdfast sessions show SESSION` shows what a job did",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withStore(cmd.Context(), env, func(_ config.Config, stored *store.Store) error {
				rows, err := jobRows(cmd.Context(), stored, all, time.Now())
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(cmd.OutOrStdout(), rows)
				}
				return printJobs(cmd.OutOrStdout(), rows, all)
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "include ended jobs, and show the session that each job runs in")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// jobRow is a job in a list.
type jobRow struct {
	ID        string    `json:"id"`
	Name      string    `json:"name,omitempty"`
	Message   string    `json:"message"`
	Kind      string    `json:"kind"`
	Spec      string    `json:"spec"`
	Zone      string    `json:"zone"`
	Session   string    `json:"session"` // that added it
	RunsIn    string    `json:"runs_in"` // session
	Channel   string    `json:"channel,omitempty"`
	Chat      string    `json:"chat,omitempty"`
	Thread    string    `json:"thread,omitempty"`
	Paused    bool      `json:"paused"`
	CreatedAt time.Time `json:"created_at"`
	FiredAt   time.Time `json:"fired_at,omitzero"`
	NextAt    time.Time `json:"next_at,omitzero"`
	EndedAt   time.Time `json:"ended_at,omitzero"`
	Removed   bool      `json:"removed,omitempty"` // why it ended
	Status    string    `json:"status,omitempty"`  // of the last turn
	Reply     string    `json:"reply,omitempty"`   // of the last turn

	label, when string
}

// jobRows returns the active jobs, or with all also the ended ones.
func jobRows(ctx context.Context, stored *store.Store, all bool, now time.Time) ([]jobRow, error) {
	rows := []jobRow{}
	if stored == nil {
		return rows, nil
	}
	read := func(ctx context.Context) ([]domain.Job, error) { return stored.Jobs(ctx, "") }
	if all {
		read = stored.AllJobs
	}
	jobs, err := read(ctx)
	if err != nil {
		return nil, err
	}
	for _, j := range jobs {
		row := jobRow{
			ID: j.ID, Name: j.Name, Message: j.Message, Kind: string(j.Kind), Spec: j.Spec, Zone: j.Zone, Session: j.Session, RunsIn: j.RunsIn(),
			Channel: j.Route.Channel, Chat: j.Route.Chat, Thread: j.Route.Thread, Paused: j.Paused,
			CreatedAt: j.CreatedAt, FiredAt: j.FiredAt, EndedAt: j.EndedAt, Removed: j.Removed, label: j.Label(), when: schedule.When(j),
		}
		if !j.Paused && j.EndedAt.IsZero() {
			row.NextAt = schedule.Next(j, now)
		}
		turns, err := stored.JobTurns(ctx, j.ID, 1)
		if err != nil {
			return nil, err
		}
		if len(turns) > 0 {
			row.Status, row.Reply = string(turns[0].Status), turns[0].Reply
			undelivered, err := stored.Undelivered(ctx, turns[0].Session)
			if err != nil {
				return nil, err
			}
			if why := undelivered[turns[0].ID]; why != "" {
				row.Status, row.Reply = "undelivered", "not delivered: "+why
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// replyShown bounds a reply in a list, in bytes.
const replyShown = 60

func printJobs(w io.Writer, rows []jobRow, all bool) error {
	if len(rows) == 0 {
		_, err := fmt.Fprintln(w, "no jobs; add one with `holdfast jobs add`, or ask the agent")
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	head := "JOB\tNAME\tWHEN\tNEXT\tLAST RUN\tREPLY\tADDED IN"
	if all {
		head += "\tENDED\tRUNS IN"
	}
	fmt.Fprintln(table, head)
	for _, row := range rows {
		next := shownTime(row.NextAt)
		switch {
		case row.Removed:
			next = "removed"
		case !row.EndedAt.IsZero():
			next = "ended"
		case row.Paused:
			next = "paused"
		}
		reply := row.Reply
		if reply == "" {
			reply = row.Status
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s", row.ID, oneLine(row.label, keyLimit), row.when, next,
			shownTime(row.FiredAt), oneLine(reply, replyShown), oneLine(row.Session, keyLimit))
		if all {
			fmt.Fprintf(table, "\t%s\t%s", shownTime(row.EndedAt), oneLine(row.RunsIn, keyLimit))
		}
		fmt.Fprintln(table)
	}
	return table.Flush()
}
