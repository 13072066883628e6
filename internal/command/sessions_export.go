package command

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/store"
)

func sessionsExportCommand(s setting) *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "export KEY",
		Short: "Write a conversation as JSON Lines, which nanobot and `sessions import` read",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withStore(cmd.Context(), s, func(_ config.Config, stored *store.Store) error {
				write := func(w io.Writer) error { return exportSession(cmd.Context(), w, stored, args[0]) }
				if path == "" {
					return write(cmd.OutOrStdout())
				}
				return writeWhole(path, write)
			})
		},
	}
	cmd.Flags().StringVarP(&path, "output", "o", "", "file to write; else it is printed")
	return cmd
}

// writeWhole writes a file that only its owner can read. It is there as a whole or
// stays as it was.
func writeWhole(path string, write func(io.Writer) error) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	err = errors.Join(write(temp), temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}

// exportSession writes all turns that have ended, those before a fresh start too;
// stored is nil if there is no store yet.
func exportSession(ctx context.Context, w io.Writer, stored *store.Store, key string) error {
	if stored == nil {
		return unknownSession(key)
	}
	session, err := stored.Export(ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		return unknownSession(key)
	}
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

func unknownSession(key string) error {
	return fmt.Errorf("there is no session %s; `holdfast sessions list` shows what there is", oneLine(key, keyLimit))
}

func exportHead(e store.Export) jsonlHead {
	head := jsonlHead{
		Type: jsonlHeadType, Metadata: map[string]any{jsonlSession: e.Session.Key},
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

func exportMessage(m store.Message) jsonlMessage {
	content := looseText(m.Content)
	if m.Full != nil {
		content = looseText(m.Full)
	}
	line := jsonlMessage{
		Role: string(m.Role), Content: &content, ToolCallID: m.CallID, Name: m.Name, Reasoning: m.Reasoning, Failed: m.Failed,
		Sender: m.Sender, SenderName: m.SenderName, Timestamp: looseTime{Time: m.CreatedAt},
	}
	if content == "" && len(m.ToolCalls) > 0 {
		line.Content = nil
	}
	for _, call := range m.ToolCalls {
		line.ToolCalls = append(line.ToolCalls, jsonlCall{
			ID: call.ID, Type: "function", Function: jsonlFunction{Name: call.Name, Arguments: looseJSON(call.Arguments)},
		})
	}
	return line
}
