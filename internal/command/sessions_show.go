package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/text"
)

func sessionsShowCommand(env environment) *cobra.Command {
	var (
		view   sessionView
		prompt bool
	)
	cmd := newCommand("show KEY", "Print a session's transcript", func(cmd *cobra.Command, args []string) error {
		return withStore(cmd.Context(), env, func(cfg config.Config, stored *store.Store) error {
			if prompt {
				p := promptView{turn: view.turn, full: view.full, json: view.json, window: cfg.Agent.MemoryWindow}
				return p.show(cmd.Context(), cmd.OutOrStdout(), stored, args[0])
			}
			view.ui, view.namespace = runningUI(cmd.Context(), cfg), cfg.Temporal.Namespace
			view.names = protocol.NewNames(cfg.Temporal.Prefix)
			return view.show(cmd.Context(), cmd.OutOrStdout(), stored, args[0])
		})
	})
	cmd.Flags().IntVar(&view.limit, "limit", 100, "maximum number of messages, the latest ones; 0 for all")
	cmd.Flags().IntVar(&view.epoch, "epoch", -1, "conversation within the session, starting at 0; /new starts the next; -1 is the current one")
	cmd.Flags().StringVar(&view.turn, "turn", "", "show a single turn, by number or ID")
	cmd.Flags().BoolVar(&prompt, "prompt", false, "show the system prompt of --turn or of the last turn; with --full, all messages sent to the model")
	cmd.Flags().BoolVar(&view.json, "json", false, "print JSON")
	cmd.Flags().BoolVar(&view.full, "full", false, "do not shorten arguments and results")
	return cmd
}

// sessionView prints a session.
type sessionView struct {
	limit     int
	epoch     int
	turn      string // number or ID; empty: all
	json      bool
	full      bool
	ui        string // URL of the running UI, if any
	namespace string
	names     protocol.Names
}

// sessionDetail is a session with its turns and messages.
type sessionDetail struct {
	domain.Session
	WorkflowID string       `json:"workflow_id"`
	UI         string       `json:"ui,omitempty"`
	TurnRows   []turnRow    `json:"turn_rows"`
	Rows       []messageRow `json:"message_rows"`
}

type turnRow struct {
	numberedTurn
	Tokens int `json:"tokens"`
	// Command and Sender are set for a turn that answered a command. Commands are not
	// in the transcript.
	Command string `json:"command,omitempty"`
	Sender  string `json:"sender,omitempty"`
	// Undelivered says why a message of the turn could not be delivered.
	Undelivered string `json:"undelivered,omitempty"`
	// Ratings are what people think of the reply.
	Ratings []domain.Rating `json:"ratings,omitempty"`
}

type messageRow struct {
	domain.Message
	Failed bool `json:"failed,omitempty"` // results: the call failed
	// Approvals are those that calls of the message needed.
	Approvals []approvalRow `json:"approvals,omitempty"`
}

// show prints a session.
func (v sessionView) show(ctx context.Context, w io.Writer, stored *store.Store, key string) error {
	all, err := numberedTurns(ctx, stored, key)
	if err != nil {
		return err
	}
	if v.turn != "" && len(all) == 0 {
		return unknownSession(key)
	}
	if v.turn != "" {
		turn, err := pickTurn(all, v.turn)
		if err != nil {
			return err
		}
		all, v.epoch, v.limit = []numberedTurn{turn}, turn.Epoch, 0
	}
	messages, err := stored.Transcript(ctx, key, v.epoch, v.limit)
	if errors.Is(err, domain.ErrNotFound) {
		return unknownSession(key)
	}
	if err != nil {
		return err
	}
	if v.turn != "" {
		messages = slices.DeleteFunc(messages, func(m domain.Message) bool { return m.Turn != all[0].ID })
	}
	session, err := stored.Session(ctx, key)
	if errors.Is(err, domain.ErrNotFound) { // its first message is waiting
		session, err = domain.Session{Running: true}, nil
	}
	if err != nil {
		return err
	}
	if v.epoch > session.Epoch {
		return fmt.Errorf("epoch %d of %s not found: the last one is %d", v.epoch, key, session.Epoch)
	}
	turns := v.turns(all, session.Epoch, messages)
	d := detail(session, turns, messages)
	d.Key, d.WorkflowID = key, v.names.Session(key)
	undelivered, err := stored.Undelivered(ctx, key)
	if err != nil {
		return err
	}
	ratings, err := stored.Ratings(ctx, key)
	if err != nil {
		return err
	}
	for i := range d.TurnRows {
		d.TurnRows[i].Undelivered, d.TurnRows[i].Ratings = undelivered[d.TurnRows[i].ID], ratings[d.TurnRows[i].ID]
		if err := d.TurnRows[i].command(ctx, stored); err != nil {
			return err
		}
	}
	if err := addApprovals(ctx, stored, key, d.Rows); err != nil {
		return err
	}
	if v.ui != "" && len(turns) > 0 {
		d.UI = uiLink(v.ui, v.namespace, d.WorkflowID, d.TurnRows[len(turns)-1].RunID)
	}
	if v.json {
		return printJSON(w, d)
	}
	return v.print(w, d)
}

// addApprovals adds the approvals that calls of the messages needed.
func addApprovals(ctx context.Context, stored *store.Store, key string, rows []messageRow) error {
	approvals, err := stored.SessionApprovals(ctx, key)
	for i, m := range rows {
		for call := range m.ToolCalls {
			if a, asked := approvals[domain.CallKey(m.Turn, m.Step, call)]; asked {
				rows[i].Approvals = append(rows[i].Approvals, newApprovalRow(a))
			}
		}
	}
	return err
}

// turns returns the turns of the epoch to show, oldest first. If --limit left out
// messages, it starts with the turn of the first message.
func (v sessionView) turns(all []numberedTurn, current int, messages []domain.Message) []numberedTurn {
	epoch := v.epoch
	if epoch < 0 {
		epoch = current
	}
	turns := slices.DeleteFunc(all, func(t numberedTurn) bool { return t.Epoch != epoch })
	if v.limit > 0 && len(messages) == v.limit {
		first := slices.IndexFunc(turns, func(t numberedTurn) bool { return t.ID == messages[0].Turn })
		turns = turns[max(first, 0):]
	}
	return turns
}

func detail(session domain.Session, turns []numberedTurn, messages []domain.Message) sessionDetail {
	d := sessionDetail{
		Session: session, TurnRows: make([]turnRow, len(turns)), Rows: make([]messageRow, len(messages)),
	}
	for i, t := range turns {
		d.TurnRows[i] = turnRow{numberedTurn: t, Tokens: t.Tokens()}
	}
	for i, m := range messages {
		d.Rows[i] = messageRow{Message: m, Failed: m.Failed}
	}
	return d
}

// print writes the transcript, turn by turn. A turn without messages, such as that of
// a command, is printed as well.
func (v sessionView) print(w io.Writer, d sessionDetail) error {
	running := ""
	if d.Running {
		running = ", running"
	}
	fmt.Fprintf(w, "session   %s%s\n", oneLine(d.Key, keyLimit), running)
	fmt.Fprintf(w, "stored    %s, %s, %d tokens, cost %s, last used %s\n",
		text.Count(d.Turns, "turn"), text.Count(d.Messages, "message"), d.Tokens(), domain.Dollars(d.Cost, d.Unpriced), shownTime(d.UpdatedAt))
	if d.Model != "" {
		fmt.Fprintf(w, "model     %s; reset it with /model default\n", oneLine(d.Model, keyLimit))
	}
	if d.Epoch > 0 {
		fmt.Fprintf(w, "epoch     %d; --epoch shows earlier ones, starting at 0\n", d.Epoch)
	}
	fmt.Fprintf(w, "workflow  %s\n", oneLine(d.WorkflowID, keyLimit))
	if d.UI != "" {
		fmt.Fprintf(w, "UI        %s\n", d.UI)
	}
	rows := d.Rows
	for _, turn := range d.TurnRows {
		fmt.Fprintf(w, "\n── turn %s ──\n", turn.describe())
		for len(rows) > 0 && rows[0].Turn == turn.ID {
			v.printMessage(w, rows[0])
			rows = rows[1:]
		}
		if turn.Command != "" {
			fmt.Fprintf(w, "%s  user %s\n%s\n", shownTime(turn.StartedAt), oneLine(turn.Sender, lineLimit), indented(turn.Command, "    "))
		}
		if (turn.Status != domain.TurnDone || turn.Command != "") && turn.Reply != "" {
			fmt.Fprintf(w, "%s  reply\n%s\n", shownTime(turn.EndedAt), indented(turn.Reply, "    "))
		}
		if turn.Undelivered != "" {
			fmt.Fprintf(w, "%s  not delivered: %s\n", shownTime(turn.EndedAt), oneLine(turn.Undelivered, lineLimit))
		}
		for _, r := range turn.Ratings {
			fmt.Fprintf(w, "%s  rated %s by %s\n", shownTime(r.At), r.Word(), oneLine(r.Sender, keyLimit))
		}
	}
	return nil
}

// command fills in the command that a turn without steps answered.
func (t *turnRow) command(ctx context.Context, stored *store.Store) error {
	if t.Steps > 0 {
		return nil
	}
	message, err := stored.Inbound(ctx, t.ID)
	if err == nil && message.Command != "" {
		t.Command, t.Sender = message.Text, message.Sender
	}
	if errors.Is(err, domain.ErrNotFound) { // an imported turn
		return nil
	}
	return err
}

func (t turnRow) describe() string {
	line := fmt.Sprintf("%d · %s: %s, %s, %d tokens, cost %s", t.Number, t.ID, t.Status, text.Count(t.Steps, "step"), t.Tokens, domain.Dollars(t.Cost, t.Unpriced))
	if !t.EndedAt.IsZero() {
		line += ", " + shownDuration(t.EndedAt.Sub(t.StartedAt))
	}
	return line
}

func (v sessionView) printMessage(w io.Writer, m messageRow) {
	who := string(m.Role)
	switch {
	case m.Name != "" && m.Failed:
		who = "failed " + m.Name
	case m.Name != "":
		who = "result " + m.Name
	case m.Sender != "":
		who += " " + m.Sender
	}
	fmt.Fprintf(w, "%s  %s\n", shownTime(m.CreatedAt), oneLine(who, lineLimit))
	switch {
	case m.Name != "" && !v.full:
		fmt.Fprintf(w, "    %s\n", cmp.Or(oneLine(m.Content, lineLimit), "(empty)"))
	case m.Content != "":
		fmt.Fprintln(w, indented(m.Content, "    "))
	}
	for i, call := range m.ToolCalls {
		arguments := oneLine(call.Arguments, lineLimit)
		if v.full {
			arguments = text.Printable(call.Arguments)
		}
		fmt.Fprintf(w, "    → %s %s\n", oneLine(call.Name, lineLimit), arguments)
		for _, a := range m.Approvals {
			if a.Call == domain.CallKey(m.Turn, m.Step, i) {
				fmt.Fprintf(w, "      %s\n", oneLine(a.outcome(), keyLimit))
			}
		}
	}
}
