package slack

import (
	"context"
	"fmt"
)

// perChat are the methods that Slack limits in each chat by itself.
var perChat = map[string]bool{"chat.postMessage": true, "chat.update": true}

// call makes one call of the Web API: f, that calls method in chat (a channel's ID
// at Slack; empty where there is none). Its error is a [remote.Error]. While Slack
// asked to wait with such calls f is not called, and the error says for how long.
func (c *Channel) call(ctx context.Context, method, chat string, f func(context.Context) error) error {
	return c.limits.Do(ctx, method, chat, perChat[method], func(ctx context.Context) error {
		if err := f(ctx); err != nil {
			return failure(fmt.Errorf("%s: %w", method, err))
		}
		return nil
	})
}
