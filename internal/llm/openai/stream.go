package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/holdfast-ai/holdfast/internal/llm"
)

var (
	errCut      = errors.New("the stream ended before the answer did")
	errUnclear  = errors.New("the stream has an error that cannot be read")
	errNotChunk = errors.New("the stream has a piece that cannot be read")
)

// stream makes the call and adds all that arrives to a.
func (c *Client) stream(ctx context.Context, req llm.Request, x *exchange, a *assembly) error {
	stream, err := c.api.CreateChatCompletionStream(ctx, c.request(req, x))
	if err != nil {
		return err
	}
	defer stream.Close()
	for {
		event, err := stream.RecvRaw()
		switch {
		case errors.Is(err, io.EOF):
			if !x.done && a.finish == "" {
				return errCut
			}
			x.drain()
			return nil
		case err != nil && a.finish != "" && (ctx.Err() == nil || errors.Is(context.Cause(ctx), c.errStall)):
			return nil // all is there but the formalities
		case err != nil:
			return err
		case event == nil:
			return errUnclear
		}
		var piece chunk
		if err := json.Unmarshal(event, &piece); err != nil {
			return fmt.Errorf("%w: %w", errNotChunk, err)
		}
		if len(piece.Error) > 0 && string(piece.Error) != "null" {
			return parseError(event)
		}
		a.add(piece)
		if a.finish != "" {
			x.expect(graceTime)
		}
	}
}
