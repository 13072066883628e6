package transcript

import (
	"bufio"
	"context"
	"encoding/json"
	"io"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// Write writes all ended turns of a session, including those before a fresh start.
// [domain.ErrNotFound] if the store does not have the session.
func Write(ctx context.Context, w io.Writer, stored *store.Store, key string) error {
	session, err := stored.Export(ctx, key)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(w)
	lines := json.NewEncoder(buffered)
	lines.SetEscapeHTML(false)
	if err := lines.Encode(exportHead(session)); err != nil {
		return err
	}
	for _, turn := range session.Turns {
		messages, err := stored.ExportMessages(ctx, turn.ID)
		if err != nil {
			return err
		}
		for _, m := range messages {
			if err := lines.Encode(exportMessage(m)); err != nil {
				return err
			}
		}
	}
	return buffered.Flush()
}

func exportHead(e store.Export) header {
	head := header{
		Type: headerType, Metadata: map[string]any{sessionKey: e.Session.Key},
		CreatedAt: looseTime{Time: e.Session.CreatedAt}, UpdatedAt: looseTime{Time: e.Session.UpdatedAt},
	}
	route := routeOf(e.Session.Key)
	head.Key = route.Channel + ":" + route.Chat
	if route.Thread != "" {
		head.Key += ":" + route.Thread
	}
	for _, turn := range e.Turns {
		if !turn.Past {
			break
		}
		head.Consolidated += turn.Messages
	}
	return head
}

func exportMessage(m domain.Message) message {
	content := looseText(m.Content)
	if m.Full != nil {
		content = looseText(m.Full)
	}
	line := message{
		Role: string(m.Role), Content: &content, ToolCallID: m.CallID, Name: m.Name, Reasoning: m.Reasoning, Failed: m.Failed,
		Sender: m.Sender, SenderName: m.SenderName, Timestamp: looseTime{Time: m.CreatedAt}, Turn: m.Turn,
	}
	if content == "" && len(m.ToolCalls) > 0 {
		line.Content = nil
	}
	for _, call := range m.ToolCalls {
		line.ToolCalls = append(line.ToolCalls, toolCall{
			ID: call.ID, Type: "function", Function: function{Name: call.Name, Arguments: looseJSON(call.Arguments)},
		})
	}
	return line
}
