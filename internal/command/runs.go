package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"golang.org/x/sync/errgroup"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/node"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

const (
	// queryPatience is how long a run has to say how it is. Without a worker it
	// cannot.
	queryPatience = 2 * time.Second
	// describeAtOnce bounds the calls under way at the same time.
	describeAtOnce = 8
)

func runsCommand(s setting) *cobra.Command {
	parent := &cobra.Command{
		Use:   "runs",
		Short: "Show and stop the runs that Temporal has",
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
		Short: "List the runs, the newest first",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 1 {
				return errors.New("--limit must be at least 1")
			}
			r, err := openRuns(cmd.Context(), s)
			if err != nil {
				return err
			}
			defer r.client.Close()
			return r.list(cmd.Context(), cmd.OutOrStdout(), limit, running)
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 20, "how many at most")
	cmd.Flags().BoolVar(&running, "running", false, "only those that are running")
	return cmd
}

// runs looks at the runs of a Temporal namespace.
type runs struct {
	client    client.Client
	namespace string
	ui        string // of the embedded engine; empty: there is none
}

// openRuns connects to the configured Temporal, or to the engine that runs on
// the home. The caller closes the client.
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
	connected, err := node.Dial(ctx, cfg.Temporal, address, node.NewIdentity(cfg.DataDir()), log, nil)
	if err != nil {
		return runs{}, err
	}
	return runs{client: connected, namespace: cfg.Temporal.Namespace, ui: runningUI(ctx, cfg)}, nil
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

// uiLink is where the UI shows a run; without a run ID, the latest of that ID.
func uiLink(ui, namespace, id, run string) string {
	link := ui + "/namespaces/" + url.PathEscape(namespace) + "/workflows/" + url.PathEscape(id)
	if run != "" {
		link += "/" + url.PathEscape(run) + "/history"
	}
	return link
}

func (r runs) list(ctx context.Context, w io.Writer, limit int, running bool) error {
	found, err := r.find(ctx, limit, running)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		_, err := fmt.Fprintln(w, "there are no such runs")
		return err
	}
	notes := make([]string, len(found))
	var group errgroup.Group
	group.SetLimit(describeAtOnce)
	for i, info := range found {
		group.Go(func() error {
			notes[i] = r.note(ctx, info)
			return nil
		})
	}
	_ = group.Wait() // a run without a note is listed too
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "WORKFLOW\tRUN\tSTATUS\tSTARTED\tDURATION\tSUMMARY")
	for i, info := range found {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n",
			oneLine(info.Execution.WorkflowId, keyLimit), info.Execution.RunId, statusName(info.Status),
			shownTime(info.StartTime.AsTime()), shownDuration(lasted(info)), notes[i])
	}
	return table.Flush()
}

// find returns the runs, the one started last first.
func (r runs) find(ctx context.Context, limit int, running bool) ([]*workflowpb.WorkflowExecutionInfo, error) {
	request := &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: r.namespace, PageSize: int32(min(limit, 1000)), Query: "TaskQueue = '" + protocol.AgentQueue + "'",
	}
	if running {
		request.Query += " AND ExecutionStatus = 'Running'"
	}
	var found []*workflowpb.WorkflowExecutionInfo
	for len(found) < limit {
		page, err := r.client.ListWorkflow(ctx, request)
		if err != nil {
			return nil, fmt.Errorf("list runs: %w", err)
		}
		found = append(found, page.Executions...)
		request.NextPageToken = page.NextPageToken
		if len(page.NextPageToken) == 0 {
			break
		}
	}
	found = found[:min(limit, len(found))]
	slices.SortStableFunc(found, func(a, b *workflowpb.WorkflowExecutionInfo) int {
		return b.StartTime.AsTime().Compare(a.StartTime.AsTime())
	})
	return found, nil
}

// note is what a run is about, and what it does now.
func (r runs) note(ctx context.Context, info *workflowpb.WorkflowExecutionInfo) string {
	id, run := info.Execution.WorkflowId, info.Execution.RunId
	text := ""
	if described, err := r.client.DescribeWorkflow(ctx, id, run); err == nil {
		text, _ = described.GetStaticSummary()
	}
	if info.Status == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		if status, err := r.status(ctx, id, run); err == nil && status.Doing != "" {
			text = "now " + status.Doing + "; " + text
		}
	}
	return oneLine(text, lineLimit)
}

// status asks a running session how it is.
func (r runs) status(ctx context.Context, id, run string) (status protocol.Status, err error) {
	ctx, cancel := context.WithTimeout(ctx, queryPatience)
	defer cancel()
	answer, err := r.client.QueryWorkflow(ctx, id, run, protocol.StatusQuery)
	if err != nil {
		return status, err
	}
	return status, answer.Get(&status)
}

// describe finds a run by its workflow ID or by its session's key; an empty run
// is the latest.
func (r runs) describe(ctx context.Context, id, run string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	var missing error
	for _, candidate := range []string{id, protocol.WorkflowID(id)} {
		found, err := r.client.DescribeWorkflowExecution(ctx, candidate, run)
		if err == nil {
			return found, nil
		}
		if _, isMissing := errors.AsType[*serviceerror.NotFound](err); !isMissing {
			return nil, fmt.Errorf("look for run %s: %w", oneLine(id, keyLimit), err)
		}
		missing = cmp.Or(missing, err)
	}
	return nil, fmt.Errorf("there is no run %s; `holdfast runs list` shows what there is: %w", oneLine(id, keyLimit), missing)
}

func lasted(info *workflowpb.WorkflowExecutionInfo) time.Duration {
	end := time.Now()
	if info.CloseTime != nil {
		end = info.CloseTime.AsTime()
	}
	return max(end.Sub(info.StartTime.AsTime()), 0)
}

// statusName is a status as people write it: "continued as new".
func statusName(status enumspb.WorkflowExecutionStatus) string {
	var name strings.Builder
	for i, r := range status.String() {
		if i > 0 && r >= 'A' && r <= 'Z' {
			name.WriteByte(' ')
		}
		name.WriteRune(r)
	}
	return strings.ToLower(name.String())
}
