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

func jobsCommand(s setting) *cobra.Command {
	parent := &cobra.Command{
		Use:   "jobs",
		Short: "Show and change the prompts that are run at times",
	}
	parent.AddCommand(jobsListCommand(s), jobsAddCommand(s))
	parent.AddCommand(jobChangeCommands(s)...)
	return parent
}

func jobsListCommand(s setting) *cobra.Command {
	var all, asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the jobs; `holdfast sessions show SESSION` shows what one did",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withStore(cmd.Context(), s, func(_ config.Config, stored *store.Store) error {
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
	cmd.Flags().BoolVar(&all, "all", false, "also those that have ended, and in which session each runs")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// jobRow is a job as it is listed.
type jobRow struct {
	ID        string    `json:"id"`
	Name      string    `json:"name,omitempty"`
	Message   string    `json:"message"`
	Kind      string    `json:"kind"`
	Spec      string    `json:"spec"`
	Zone      string    `json:"zone"`
	Session   string    `json:"session"` // in which it was made
	RunsIn    string    `json:"runs_in"` // session
	Channel   string    `json:"channel,omitempty"`
	Chat      string    `json:"chat,omitempty"`
	Thread    string    `json:"thread,omitempty"`
	Paused    bool      `json:"paused"`
	CreatedAt time.Time `json:"created_at"`
	FiredAt   time.Time `json:"fired_at,omitzero"`
	NextAt    time.Time `json:"next_at,omitzero"`
	EndedAt   time.Time `json:"ended_at,omitzero"`
	Removed   bool      `json:"removed,omitempty"` // which is why it ended
	Status    string    `json:"status,omitempty"`  // of the last turn
	Reply     string    `json:"reply,omitempty"`   // of the last turn

	label, when string
}

// jobRows are the jobs that go on or, if all, those too that have ended.
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

// replyShown is how much of a reply a list has, in bytes.
const replyShown = 60

func printJobs(w io.Writer, rows []jobRow, all bool) error {
	if len(rows) == 0 {
		_, err := fmt.Fprintln(w, "there are no jobs; `holdfast jobs add` makes one, and the agent does when it is asked to")
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	head := "JOB\tNAME\tWHEN\tNEXT\tLAST RUN\tREPLY\tMADE IN"
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
