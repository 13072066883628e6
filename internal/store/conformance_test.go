package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// conform runs the tests that the store passes on each dialect. Each call of dsn names a
// new, empty database.
func conform(t *testing.T, dsn func(t *testing.T) string) {
	t.Helper()
	for name, check := range map[string]func(*testing.T, *bundle){
		"accepts a message once":                              acceptOnce,
		"accepts one of many equal messages":                  acceptRace,
		"keeps every field of a message":                      acceptFields,
		"shows pending messages in the order of acceptance":   pending,
		"returns the preceding unconsumed message":            previous,
		"lets processes share the rows to reconcile":          reconcileClaims,
		"shows workers until they are removed":                workers,
		"sweeps unconsumed messages":                          sweep,
		"claims replies that are not delivered":               undelivered,
		"begins a turn":                                       begin,
		"begins a step again without changes":                 beginAgain,
		"recovers from a panic in a transaction":              beginPanics,
		"joins messages at a later step":                      join,
		"leaves messages with the turn that consumed them":    answered,
		"reports why a turn cannot begin":                     beginMissing,
		"cuts the history at a user message":                  window,
		"orders the history":                                  order,
		"finds what is due in a large store":                  large,
		"works beside a newer schema, which it does not open": newerSchema,
		"stores the first completion":                         completion,
		"stores one of many completions":                      completionRace,
		"adds up usage":                                       usage,
		"ends a turn with a final completion":                 final,
		"delivers a reply only where asked":                   push,
		"stores the first result":                             result,
		"keeps large results apart from the transcript":       fullResult,
		"intends once":                                        intend,
		"ends a turn with a valid transcript":                 end,
		"ends a turn once":                                    endAgain,
		"ends a turn that never began":                        endUnbegun,
		"creates no turn without a message":                   endNothing,
		"rejects writers after the end":                       zombies,
		"ends a turn by one of many":                          endRace,
		"answers a command once":                              answer,
		"begins a new epoch once":                             reset,
		"fences off earlier claims":                           fences,
		"reports open claims":                                 claims,
		"gives each concurrent claim its own fence":           claimRace,
		"closes a reply permanently":                          closed,
		"keeps replies for a later delivery":                  kept,
		"stores the last rating of each person":               ratings,
		"records the placeholder of a reply":                  placeholder,
		"does not keep a question that was decided":           keptQuestion,
		"finds replies that are behind others":                behind,
		"searches past messages":                              recall,
		"sends no reply after a message of its own":           said,
		"asks for approval once and is answered once":         approvals,
		"accepts no answer after the timeout":                 approvalExpires,
		"accepts one of many answers":                         approvalRace,
		"asks for a subagent in its parent's chat":            approvalOfSubagent,
		"removes questions with their session":                approvalRemoved,
		"sends a reply in addition to a question":             approvalIsNoReply,
		"counts the backlog":                                  backlog,
		"consolidates all but the newest half of a window":    consolidate,
		"stores cursors":                                      cursors,
		"lets people in without a code":                       admitting,
		"finds the chat of a request":                         chats,
		"continues a chat for one of many requests":           chatRace,
		"stores where the commands of sessions run":           places,
		"stores any text":                                     anyText,
		"returns the state of a message":                      messageState,
		"adds a job once":                                     jobOnce,
		"lists, pauses and removes jobs":                      jobLife,
		"fires jobs":                                          jobFires,
		"fires a job once for many":                           jobFiresOnce,
		"fires jobs where they were made":                     jobFiresInChat,
		"lists background replies":                            backgroundReplies,
		"does not deliver a silent reply":                     silent,
		"sums the usage":                                      usageSums,
		"sums usage by local day":                             usageDays,
		"keeps the model of sessions and of turns":            models,
		"lists sessions and turns":                            lists,
		"is shared by several stores":                         shareTwo,
		"is opened by several at the same time":               openRace,
		"persists after reopening":                            reopen,
		"serves many sessions at the same time":               manySessions,
		"rolls back a cancelled call and continues":           cancelled,
		"returns the prompt of a turn":                        prompted,
		"imports a conversation once":                         importOnce,
		"imports one of many equal conversations":             importRace,
		"continues an imported conversation":                  importGoesOn,
		"imports into other turns only if asked":              importAppends,
		"exports a session":                                   export,
		"removes a session with all its rows":                 remove,
		"does not remove an active session":                   removeAtWork,
		"removes a session with its subagents":                removeChildren,
		"removes a session that is being used":                removeRace,
		"recognizes messages of removed sessions permanently": removeKnown,
		"finds unused sessions":                               unused,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := dsn(t)
			b := &bundle{Store: open(t, d), dsn: d}
			check(t, b)
			if !strings.HasPrefix(d, "postgres") {
				requireIndexes(t, b)
			}
		})
	}
}

// bundle is a store and where it is.
type bundle struct {
	*store.Store
	dsn string
}

const (
	session = "test:c1"
	channel = "test"
)

func open(t *testing.T, dsn string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{DSN: dsn})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func message(id string) domain.Inbound {
	return domain.Inbound{
		ID: id, Session: session, Channel: channel, Chat: "c1", Thread: "t1", Sender: "ana", Text: "text of " + id, Push: true,
	}
}

func (b *bundle) accept(t *testing.T, ids ...string) {
	t.Helper()
	for _, id := range ids {
		_, _, err := b.Accept(t.Context(), message(id))
		require.NoError(t, err)
	}
}

func step(turn string, n int, messages ...string) store.BeginInput {
	return store.BeginInput{
		Session: session, Channel: channel, Turn: turn, Step: n, Messages: messages,
		WorkflowID: "w1", RunID: "r1", Window: 100,
	}
}

func (b *bundle) begin(t *testing.T, in store.BeginInput) domain.Step {
	t.Helper()
	begun, err := b.Begin(t.Context(), in)
	require.NoError(t, err)
	return begun
}

// complete saves a completion with calls named by names, or a final one.
func (b *bundle) complete(t *testing.T, turn string, n int, names ...string) (domain.Message, string) {
	t.Helper()
	stored, outbox, err := b.SaveCompletion(t.Context(), completed(turn, n, names...))
	require.NoError(t, err)
	return stored, outbox
}

func completed(turn string, n int, names ...string) store.Completion {
	c := store.Completion{
		Turn: turn, Step: n, Provider: "openai", Model: "gpt", Prompt: "be good",
		Usage: domain.Usage{PromptTokens: 10, CompletionTokens: 2}, Message: domain.Message{Content: fmt.Sprintf("%s says %d", turn, n)},
	}
	for i, name := range names {
		c.Message.ToolCalls = append(c.Message.ToolCalls, domain.ToolCall{ID: fmt.Sprintf("call%d", i), Name: name, Arguments: `{"a":1}`})
	}
	if len(names) == 0 {
		c.Final, c.Reply = true, c.Message.Content
	}
	return c
}

// resultOf is the result of a call of step 1.
func resultOf(turn string, index int, text string) domain.Message {
	return domain.Message{Turn: turn, Step: 1, Index: index, Content: text, CallID: fmt.Sprintf("call%d", index), Name: "exec"}
}

// whole runs a turn of one message from beginning to end.
func (b *bundle) whole(t *testing.T, id string) {
	t.Helper()
	b.accept(t, id)
	b.begin(t, step(id, 1, id))
	b.complete(t, id, 1)
}

// contents are the texts of messages, each with its role's first letter.
func contents(messages []domain.Message) []string {
	all := make([]string, 0, len(messages))
	for _, m := range messages {
		all = append(all, string(m.Role)[:1]+": "+m.Content)
	}
	return all
}

func ids(messages []domain.Inbound) []string {
	all := make([]string, 0, len(messages))
	for _, m := range messages {
		all = append(all, m.ID)
	}
	return all
}

// requireValid checks what a model demands of a transcript: each call has exactly
// one result, right after its completion.
func requireValid(t *testing.T, rows []domain.Message) {
	t.Helper()
	var open []string
	for _, m := range rows {
		if m.Role == domain.RoleTool {
			at := slices.Index(open, m.CallID)
			require.GreaterOrEqual(t, at, 0, "result without a call: %s", m.CallID)
			open = slices.Delete(open, at, at+1)
			continue
		}
		require.Empty(t, open, "calls without a result")
		for _, call := range m.ToolCalls {
			open = append(open, call.ID)
		}
	}
	require.Empty(t, open, "calls without a result")
}
