package node

import (
	"context"
	"fmt"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/store"
)

func (n *Node) openStore(ctx context.Context) (err error) {
	dsn := n.Config.StoreDSN()
	// Otherwise a damaged page could fail a message half way through.
	if _, err := store.Check(ctx, dsn); err != nil {
		return err
	}
	if n.Store, err = store.Open(ctx, store.Options{DSN: dsn, Logger: n.log}); err != nil {
		return err
	}
	n.onClose(func() { _ = n.Store.Close() })
	if !strings.HasPrefix(dsn, "postgres") {
		n.Events = event.NewLocal()
		return nil
	}
	bus, err := event.NewPostgres(ctx, dsn, n.log)
	if err != nil {
		return fmt.Errorf("open the event bus: %w", err)
	}
	n.onClose(func() { _ = bus.Close() })
	n.Events = bus
	return nil
}
