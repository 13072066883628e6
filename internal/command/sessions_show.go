package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/store"
)

func sessionsShowCommand(s setting) *cobra.Command {
	var view sessionView
	cmd := &cobra.Command{
		Use:   "show KEY",
		Short: "Print a session's transcript",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withStore(cmd.Context(), s, func(cfg config.Config, stored *store.Store) error {
				view.ui = runningUI(cmd.Context(), cfg)
				view.namespace = cfg.Temporal.Namespace
				view.window = cfg.Agent.MemoryWindow
				if view.prompt {
					return view.showPrompt(cmd.Context(), cmd.OutOrStdout(), stored, args[0])
				}
				return view.show(cmd.Context(), cmd.OutOrStdout(), stored, args[0])
			})
		},
	}
	cmd.Flags().IntVar(&view.limit, "limit", 100, "how many messages at most, the last ones; 0 is all")
	cmd.Flags().IntVar(&view.epoch, "epoch", -1, "an earlier conversation of the session: they count from 0, /new begins one")
	cmd.Flags().StringVar(&view.turn, "turn", "", "one turn only: its number or ID")
	cmd.Flags().BoolVar(&view.prompt, "prompt", false, "the system prompt of --turn, or of the last turn; with --full all that the model was sent")
	cmd.Flags().BoolVar(&view.json, "json", false, "print JSON")
	cmd.Flags().BoolVar(&view.full, "full", false, "do not shorten arguments and results")
	return cmd
}

// sessionView is how a session is shown.
type sessionView struct {
	limit     int
	epoch     int
	turn      string // number or ID; empty: all
	prompt    bool
	window    int // messages of earlier turns in a prompt
	json      bool
	full      bool
	ui        string // of the running engine; empty: there is none
	namespace string
}

// sessionDetail is a session as it is shown in JSON.
type sessionDetail struct {
	sessionRow
	Epoch      int          `json:"epoch"`
	WorkflowID string       `json:"workflow_id"`
	UI         string       `json:"ui,omitempty"`
	TurnRows   []turnRow    `json:"turn_rows"`
	Rows       []messageRow `json:"message_rows"`
}

type turnRow struct {
	ID     string            `json:"id"`
	Number int               `json:"number"` // in the session, from 1
	Status domain.TurnStatus `json:"status"`
	Steps  int               `json:"steps"`
	Tokens int               `json:"tokens"`
	Model  string            `json:"model,omitempty"` // that /model chose
	shownCost
	// Command is the one that the turn answered, and Sender who gave it; its transcript
	// has none of it.
	Command string `json:"command,omitempty"`
	Sender  string `json:"sender,omitempty"`
	Reply   string `json:"reply,omitempty"`
	// Undelivered says why the reply, or something else that the turn sent, did not
	// reach its chat.
	Undelivered string `json:"undelivered,omitempty"`

	RunID     string    `json:"run_id,omitempty"`
	StartedAt time.Time `json:"started_at"`
	EndedAt   time.Time `json:"ended_at,omitzero"`
}

type messageRow struct {
	Turn      string            `json:"turn"`
	Step      int               `json:"step"`
	Role      domain.Role       `json:"role"`
	Sender    string            `json:"sender,omitempty"`
	Tool      string            `json:"tool,omitempty"`
	Content   string            `json:"content"`
	ToolCalls []domain.ToolCall `json:"tool_calls,omitempty"`
	CallID    string            `json:"call_id,omitempty"`
	Failed    bool              `json:"failed,omitempty"`
	CreatedAt time.Time         `json:"created_at"`
}

// show prints the session; stored is nil if there is no store yet.
func (v sessionView) show(ctx context.Context, w io.Writer, stored *store.Store, key string) error {
	if stored == nil {
		return unknownSession(key)
	}
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
	if err != nil && !errors.Is(err, domain.ErrNotFound) { // its first message may still wait
		return err
	}
	running, err := stored.RunningSessions(ctx)
	if err != nil {
		return err
	}
	if v.epoch > session.Epoch {
		return fmt.Errorf("there is no epoch %d of %s: the last one is %d", v.epoch, key, session.Epoch)
	}
	turns := v.turns(all, session.Epoch, messages)
	d := detail(session, turns, messages)
	d.Key, d.Running, d.WorkflowID = key, slices.Contains(running, key), protocol.WorkflowID(key)
	undelivered, err := stored.Undelivered(ctx, key)
	if err != nil {
		return err
	}
	for i := range d.TurnRows {
		d.TurnRows[i].Undelivered = undelivered[d.TurnRows[i].ID]
		if err := d.TurnRows[i].command(ctx, stored); err != nil {
			return err
		}
	}
	if v.ui != "" && len(turns) > 0 {
		d.UI = uiLink(v.ui, v.namespace, d.WorkflowID, d.TurnRows[len(turns)-1].RunID)
	}
	if v.json {
		return printJSON(w, d)
	}
	return v.print(w, d)
}

// turns returns the turns of the epoch that is shown, oldest first, from that of
// the first message on if the messages are not all there are.
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
		sessionRow: sessionRowOf(session, false), Epoch: session.Epoch,
		TurnRows: make([]turnRow, len(turns)), Rows: make([]messageRow, len(messages)),
	}
	for i, t := range turns {
		d.TurnRows[i] = turnRow{
			ID: t.ID, Number: t.Number, Status: t.Status, Steps: t.Steps, Tokens: t.Usage.PromptTokens + t.Usage.CompletionTokens,
			Model: t.Model, shownCost: shownCost{t.Cost, t.Unpriced},
			Reply: t.Reply, RunID: t.RunID, StartedAt: t.StartedAt, EndedAt: t.EndedAt,
		}
	}
	for i, m := range messages {
		d.Rows[i] = messageRow{
			Turn: m.Turn, Step: m.Step, Role: m.Role, Sender: m.Sender, Tool: m.Name, Content: m.Content,
			ToolCalls: m.ToolCalls, CallID: m.CallID, Failed: m.Failed, CreatedAt: m.CreatedAt,
		}
	}
	return d
}

// print writes the transcript, turn by turn. A turn that has no message here, as
// that of a command, is a line of its own.
func (v sessionView) print(w io.Writer, d sessionDetail) error {
	running := ""
	if d.Running {
		running = ", at work"
	}
	fmt.Fprintf(w, "session   %s%s\n", oneLine(d.Key, keyLimit), running)
	fmt.Fprintf(w, "stored    %d turns, %d messages, %d tokens, cost %s, last used %s\n",
		d.Turns, d.Messages, d.PromptTokens+d.CompletionTokens, d.shownCost, shownTime(d.UsedAt))
	if d.Model != "" {
		fmt.Fprintf(w, "model     %s; /model default undoes it\n", oneLine(d.Model, keyLimit))
	}
	if d.Epoch > 0 {
		fmt.Fprintf(w, "epoch     %d; --epoch shows an earlier one, from 0\n", d.Epoch)
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
	}
	return nil
}

// command fills in the command that a turn without steps has answered.
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
	text := fmt.Sprintf("%d · %s: %s, %d steps, %d tokens, cost %s", t.Number, t.ID, t.Status, t.Steps, t.Tokens, t.shownCost)
	if !t.EndedAt.IsZero() {
		text += ", " + shownDuration(t.EndedAt.Sub(t.StartedAt))
	}
	return text
}

func (v sessionView) printMessage(w io.Writer, m messageRow) {
	who := string(m.Role)
	switch {
	case m.Tool != "" && m.Failed:
		who = "failed " + m.Tool
	case m.Tool != "":
		who = "result " + m.Tool
	case m.Sender != "":
		who += " " + m.Sender
	}
	fmt.Fprintf(w, "%s  %s\n", shownTime(m.CreatedAt), oneLine(who, lineLimit))
	switch {
	case m.Tool != "" && !v.full:
		fmt.Fprintf(w, "    %s\n", cmp.Or(oneLine(m.Content, lineLimit), "(nothing)"))
	case m.Content != "":
		fmt.Fprintln(w, indented(m.Content, "    "))
	}
	for _, call := range m.ToolCalls {
		arguments := oneLine(call.Arguments, lineLimit)
		if v.full {
			arguments = printable(call.Arguments)
		}
		fmt.Fprintf(w, "    → %s %s\n", oneLine(call.Name, lineLimit), arguments)
	}
}
