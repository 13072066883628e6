package node

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/llm/openai"
)

// transcriptionTimeout bounds the transcription of a file.
const transcriptionTimeout = 5 * time.Minute

// OpenTranscription returns a client of the service that transcribes audio. It calls nothing
// yet.
func OpenTranscription(c config.Transcription) (*openai.Client, error) {
	client, err := openai.New(openai.Options{
		Service: "transcription", BaseURL: c.BaseURL, Setting: "tools.transcription.base_url", APIKey: c.APIKey.Reveal(),
		Timeout: transcriptionTimeout, StallTimeout: transcriptionTimeout,
	})
	if err != nil {
		return nil, fmt.Errorf("open the transcription service: %w", err)
	}
	return client, nil
}

// transcribe returns what transcribes audio for the agent; nil if that is disabled.
func (n *Node) transcribe() (func(ctx context.Context, name string, audio []byte) (string, error), error) {
	settings := n.Config.Tools.Transcription
	if !settings.Enabled {
		return nil, nil
	}
	client, err := OpenTranscription(settings)
	if err != nil {
		return nil, err
	}
	n.onClose(client.Close)
	return func(ctx context.Context, name string, audio []byte) (string, error) {
		return client.Transcribe(ctx, settings.Model, name, audio)
	}, nil
}
