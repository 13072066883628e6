package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/dispatch"
	"github.com/holdfast-ai/holdfast/internal/node"
)

// describeConcurrency bounds how many runs are described at once.
const describeConcurrency = 8

func runsCommand(s setting) *cobra.Command {
	parent := &cobra.Command{
		Use:   "runs",
		Short: "Show and stop workflow runs",
	}
	parent.AddCommand(runsListCommand(s), runsShowCommand(s), runsStopCommand(s))
	return parent
}

func runsListCommand(s setting) *cobra.Command {
	var (
		limit   int
		running bool
	)
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List runs, newest first",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 1 {
				return errors.New("--limit must be at least 1")
			}
			r, err := openRuns(cmd.Context(), s)
			if err != nil {
				return err
			}
			defer r.temporal.Close()
			return r.list(cmd.Context(), cmd.OutOrStdout(), limit, running)
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 20, "maximum number of runs")
	cmd.Flags().BoolVar(&running, "running", false, "only running ones")
	return cmd
}

// runs are the runs of a Temporal namespace.
type runs struct {
	temporal  *dispatch.Client
	namespace string
	ui        string // URL of the embedded engine's UI; empty if there is none
}

// openRuns connects to the configured Temporal, or to the engine that runs on this
// home. The caller closes the connection.
func openRuns(ctx context.Context, s setting) (runs, error) {
	cfg, log, err := s.load(io.Discard)
	if err != nil {
		return runs{}, err
	}
	address := cfg.Temporal.Address
	if address == "" {
		if address, err = runningEngine(cfg); err != nil {
			return runs{}, err
		}
		if !node.Listens(ctx, address) {
			return runs{}, fmt.Errorf("nothing answers at %s, where the engine of %s was: start it with `holdfast up`", address, cfg.Home)
		}
	}
	connected, err := node.Connect(ctx, cfg, address, log)
	if err != nil {
		return runs{}, err
	}
	return runs{temporal: connected, namespace: cfg.Temporal.Namespace, ui: runningUI(ctx, cfg)}, nil
}

// runningUI is the URL of the UI that runs on this home; empty if none does.
func runningUI(ctx context.Context, cfg config.Config) string {
	if cfg.Temporal.Address != "" {
		return ""
	}
	info, err := node.ReadRun(cfg.DataDir())
	if err != nil || info.UI == "" || !node.Listens(ctx, strings.TrimPrefix(info.UI, "http://")) {
		return ""
	}
	return info.UI
}

// uiLink is the page of a run in the UI; without a run ID, of the latest run.
func uiLink(ui, namespace, id, run string) string {
	link := ui + "/namespaces/" + url.PathEscape(namespace) + "/workflows/" + url.PathEscape(id)
	if run != "" {
		link += "/" + url.PathEscape(run) + "/history"
	}
	return link
}

func (r runs) list(ctx context.Context, w io.Writer, limit int, running bool) error {
	found, err := r.temporal.Runs(ctx, limit, running)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		_, err := fmt.Fprintln(w, "no runs found")
		return err
	}
	notes := make([]string, len(found))
	var group errgroup.Group
	group.SetLimit(describeConcurrency)
	for i, run := range found {
		group.Go(func() error {
			notes[i] = r.note(ctx, run)
			return nil
		})
	}
	_ = group.Wait() // the functions return no error
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "WORKFLOW\tRUN\tSTATUS\tSTARTED\tDURATION\tSUMMARY")
	for i, run := range found {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", oneLine(run.WorkflowID, keyLimit), run.RunID, run.Status,
			shownTime(run.StartedAt), shownDuration(run.Duration()), notes[i])
	}
	return table.Flush()
}

// note is what a run does now, and its summary.
func (r runs) note(ctx context.Context, run dispatch.Run) string {
	text := r.temporal.Summary(ctx, run)
	if run.Running() {
		if status, err := r.temporal.Status(ctx, run); err == nil && status.Doing != "" {
			text = "now " + status.Doing + "; " + text
		}
	}
	return oneLine(text, lineLimit)
}

// find finds a run by its workflow ID or its session's key; an empty runID is the latest.
func (r runs) find(ctx context.Context, id, runID string) (dispatch.Run, error) {
	run, err := r.temporal.Run(ctx, id, runID)
	if errors.Is(err, dispatch.ErrNoRun) {
		return run, fmt.Errorf("there is no run %s; `holdfast runs list` lists them: %w", oneLine(id, keyLimit), err)
	}
	return run, err
}
