package chat

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// maxCached bounds the answers in a [Cache].
const maxCached = 10_000

// Cache remembers what a platform answered, by ID, for a limited time. Errors are not
// remembered. Safe for concurrent use.
type Cache[V any] struct {
	lasts  time.Duration
	look   func(ctx context.Context, id string) (V, error)
	flight singleflight.Group

	mu   sync.Mutex
	byID map[string]cached[V]
}

type cached[V any] struct {
	value V
	until time.Time
}

// NewCache returns a cache of the results of look, which last as long as given.
func NewCache[V any](lasts time.Duration, look func(ctx context.Context, id string) (V, error)) *Cache[V] {
	return &Cache[V]{lasts: lasts, look: look, byID: map[string]cached[V]{}}
}

// Get returns the value of an ID. Concurrent calls for one ID share a look.
func (c *Cache[V]) Get(ctx context.Context, id string) (V, error) {
	c.mu.Lock()
	known, found := c.byID[id]
	c.mu.Unlock()
	if found && time.Now().Before(known.until) {
		return known.value, nil
	}
	looked, err, _ := c.flight.Do(id, func() (any, error) {
		value, err := c.look(context.WithoutCancel(ctx), id)
		if err == nil {
			c.Put(id, value)
		}
		return value, err
	})
	value, _ := looked.(V)
	return value, err
}

// Put caches a value.
func (c *Cache[V]) Put(id string, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.byID) >= maxCached {
		clear(c.byID)
	}
	c.byID[id] = cached[V]{value, time.Now().Add(c.lasts)}
}

// Forget removes a value: it is looked up again.
func (c *Cache[V]) Forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.byID, id)
}
