package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/sashabaranov/go-openai"
)

var (
	errTruncated = errors.New("the stream ended before the answer was complete")
	errUnclear   = errors.New("the stream has an unreadable error")
	errNotChunk  = errors.New("the stream has an unreadable event")
)

// stream makes the call and adds every event to a.
func (c *Client) stream(ctx context.Context, api *openai.Client, req openai.ChatCompletionRequest, x *exchange, a *assembly) error {
	stream, err := api.CreateChatCompletionStream(ctx, req)
	if err != nil {
		return err
	}
	defer stream.Close()
	for {
		event, err := stream.RecvRaw()
		switch {
		case errors.Is(err, io.EOF):
			if !x.done && a.finish == "" {
				return errTruncated
			}
			x.drain()
			return nil
		case err != nil && a.finish != "" && (ctx.Err() == nil || errors.Is(context.Cause(ctx), c.errStall)):
			return nil // the answer is complete; only the end of the stream is missing
		case err != nil:
			return err
		case event == nil:
			return errUnclear
		}
		var piece answer
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
