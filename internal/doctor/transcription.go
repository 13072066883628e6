package doctor

import (
	"context"
	"net/http"
	"net/url"

	"github.com/holdfast-ai/holdfast/internal/node"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// checkTranscription asks the service that transcribes audio for its models, which is free.
func (d *doctor) checkTranscription(ctx context.Context) {
	settings := d.cfg.Tools.Transcription
	if !settings.Enabled {
		return
	}
	client, err := node.OpenTranscription(settings)
	if err != nil {
		d.fail("voice", "correct tools.transcription.base_url", "%v", err)
		return
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, modelTimeout)
	defer cancel()
	names, err := client.Models(ctx)
	at := settings.BaseURL
	if address, err := url.Parse(at); err == nil {
		at = address.Redacted()
	}
	failed := remote.As(err)
	switch {
	case err == nil && lists(names, settings.Model):
		d.ok("voice", "voice messages are transcribed by %s at %s", settings.Model, at)
	case err == nil:
		d.warn("voice", "check tools.transcription.model", "%s does not list the model %s", at, settings.Model)
	case failed != nil && (failed.Status == http.StatusUnauthorized || failed.Status == http.StatusForbidden):
		d.fail("voice", "check tools.transcription.api_key, or GROQ_API_KEY for Groq", "the key is rejected: %v", err)
	case failed != nil && failed.Status == http.StatusNotFound:
		d.ok("voice", "%s has no list of models: key and model were not checked", at)
	default:
		d.fail("voice", "check the network and tools.transcription.base_url", "%v", err)
	}
}
