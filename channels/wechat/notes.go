package wechat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/holdfast-ai/holdfast/channels"
)

// The names of the notes. Those of a chat end with its ID.
const (
	noteAccount = "account"
	noteChats   = "chats"
	noteUpdates = "updates/"
	noteWindows = "windows/"
	noteSent    = "sent/"
)

// notes are what the processes of the channel share, as JSON in the cursors of the store.
type notes struct{ store channels.Store }

var errNoStore = errors.New("the channel has no store yet: start holdfast once")

// read reads a note, if there is one.
func (n notes) read(ctx context.Context, name string, into any) error {
	if n.store == nil {
		return errNoStore
	}
	text, err := n.store.Cursor(ctx, Name, name)
	if err != nil || text == "" {
		return err
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		return fmt.Errorf("read the note %s: %w", name, err)
	}
	return nil
}

func (n notes) write(ctx context.Context, name string, value any) error {
	if n.store == nil {
		return errNoStore
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("write the note %s: %w", name, err)
	}
	return n.store.SetCursor(ctx, Name, name, string(text))
}
