package openai

import (
	"bytes"
	"context"
	"strings"

	"github.com/sashabaranov/go-openai"
)

// Transcribe returns what is said in an audio file. Its name has the extension of its format.
// Errors are like those of Complete.
func (c *Client) Transcribe(ctx context.Context, model, name string, audio []byte) (said string, err error) {
	err = c.call(ctx, func(ctx context.Context, api *openai.Client, x *exchange) error {
		x.whole = true
		answer, err := api.CreateTranscription(ctx, openai.AudioRequest{Model: model, FilePath: name, Reader: bytes.NewReader(audio)})
		said = strings.TrimSpace(answer.Text)
		return err
	})
	return said, err
}
