// Package recall is the memory_search tool: it searches earlier conversations.
package recall

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/memory"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/text"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

const (
	maxEntries  = 8  // per history file
	maxMessages = 12 // from transcripts
)

// Store finds stored messages.
type Store interface {
	// Route returns where the turn's message came from.
	Route(ctx context.Context, turn string) (domain.Route, error)
	// Recall returns messages of a memory scope, without those of exceptTurn, that
	// contain the words.
	Recall(ctx context.Context, scope, exceptTurn string, words []string, limit int) ([]store.Recalled, error)
}

// History searches the summaries of earlier conversations.
type History interface {
	Search(scope memory.Scope, words []string, limit int) ([]string, error)
}

// Options configure the tool. All are required.
type Options struct {
	Store   Store
	History History
	Scope   memory.ScopeFunc
}

type arguments struct {
	Query string `json:"query"`
}

// New returns the memory_search tool. It searches the asker's memory scope and the
// one that everyone shares.
func New(o Options) tool.Tool {
	made := tool.New("memory_search", `Search earlier conversations (summaries and exact words) when someone refers to something you cannot see.
Rare words, such as names, work best.`,
		tool.Repeatable, o.run)
	made.ReadOnly = true
	return made
}

func (o Options) run(ctx context.Context, call tool.Call, args arguments) (tool.Result, error) {
	words := strings.Fields(args.Query)
	if len(words) == 0 {
		return tool.Result{}, errors.New("query is empty")
	}
	route, err := o.Store.Route(ctx, call.Turn())
	if err != nil {
		return tool.Result{}, fmt.Errorf("%w: %w", tool.ErrRetry, err)
	}
	scope := o.Scope(route.Channel, route.Chat, route.Sender)
	entries, err := o.searchHistory(scope, words)
	if err != nil {
		return tool.Result{}, err
	}
	messages, err := o.Store.Recall(ctx, scope.String(), call.Turn(), words, maxMessages)
	if err != nil {
		return tool.Result{}, fmt.Errorf("%w: %w", tool.ErrRetry, err)
	}
	return tool.Result{Text: format(entries, messages)}, nil
}

// searchHistory searches the history of the scope and the shared one.
func (o Options) searchHistory(scope memory.Scope, words []string) ([]string, error) {
	entries, err := o.History.Search(scope, words, maxEntries)
	shared := memory.Scope{}
	if err != nil || scope.String() == shared.String() {
		return entries, err
	}
	more, err := o.History.Search(shared, words, maxEntries)
	return append(entries, more...), err
}

func format(entries []string, messages []store.Recalled) string {
	if len(entries) == 0 && len(messages) == 0 {
		return "Nothing found. Try other words, fewer words, or names."
	}
	var b strings.Builder
	if len(entries) > 0 {
		b.WriteString("From the history:\n")
	}
	for _, entry := range entries {
		b.WriteString("- " + text.Line(entry) + "\n")
	}
	if len(messages) > 0 {
		b.WriteString("Said before:\n")
	}
	for _, m := range messages {
		who := m.SenderName
		switch {
		case m.Role == domain.RoleAssistant:
			who = "you"
		case who == "":
			who = "the user"
		}
		fmt.Fprintf(&b, "- %s, %s: %s\n", m.CreatedAt.In(time.Local).Format("2006-01-02 15:04"), who, text.Line(m.Snippet))
	}
	return strings.TrimRight(b.String(), "\n")
}
