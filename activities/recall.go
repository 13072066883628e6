package activities

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/memory"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

const (
	// recallEntries and recallMessages bound what is found in the history and in
	// transcripts.
	recallEntries  = 8
	recallMessages = 12
)

type recallArguments struct {
	Query string `json:"query" jsonschema:"words to look for; names, places and other rare words find most"`
}

// NewRecallTool returns the tool that searches what was said before and is not in
// the prompt any more, within the memory that the asker has a share in.
func NewRecallTool(s *store.Store, files *memory.Files, scope ScopeFunc) (tool.Tool, error) {
	made, err := tool.New("memory_search", `Search earlier conversations: the log of their summaries, and what was said word for word.
Use it when somebody refers to something that you do not see.`,
		tool.Repeatable, func(ctx context.Context, call tool.Call, args recallArguments) (tool.Result, error) {
			words := strings.Fields(args.Query)
			if len(words) == 0 {
				return tool.Result{}, errors.New("the query is empty")
			}
			turn, _, _ := strings.Cut(call.Key, ".")
			route, err := s.Route(ctx, turn)
			if err != nil {
				return tool.Result{}, fmt.Errorf("%w: %w", tool.ErrRetry, err)
			}
			asker := scope(route.Channel, route.Chat, route.Sender)
			entries, err := searchHistory(files, asker, words)
			if err != nil {
				return tool.Result{}, err
			}
			messages, err := s.Recall(ctx, asker.String(), turn, words, recallMessages)
			if err != nil {
				return tool.Result{}, fmt.Errorf("%w: %w", tool.ErrRetry, err)
			}
			return tool.Result{Text: recalled(entries, messages)}, nil
		})
	made.ReadOnly = true
	return made, err
}

// searchHistory looks into the asker's history and the one that everybody shares.
func searchHistory(files *memory.Files, asker memory.Scope, words []string) ([]string, error) {
	entries, err := files.Search(asker, words, recallEntries)
	shared := memory.Scope{}
	if err != nil || asker.String() == shared.String() {
		return entries, err
	}
	more, err := files.Search(shared, words, recallEntries)
	return append(entries, more...), err
}

func recalled(entries []string, messages []store.Recalled) string {
	if len(entries) == 0 && len(messages) == 0 {
		return "Nothing was found. Try other words, fewer of them, or names."
	}
	var b strings.Builder
	if len(entries) > 0 {
		b.WriteString("From the history:\n")
	}
	for _, entry := range entries {
		b.WriteString("- " + strings.Join(strings.Fields(entry), " ") + "\n")
	}
	if len(messages) > 0 {
		b.WriteString("Said before:\n")
	}
	for _, m := range messages {
		who := m.SenderName
		switch {
		case m.Role == llm.RoleAssistant:
			who = "you"
		case who == "":
			who = "the user"
		}
		fmt.Fprintf(&b, "- %s, %s: %s\n", m.CreatedAt.In(time.Local).Format("2006-01-02 15:04"), who, strings.Join(strings.Fields(m.Snippet), " "))
	}
	return strings.TrimRight(b.String(), "\n")
}
