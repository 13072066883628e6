package activities

import (
	"context"
	"fmt"
	"strings"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/remote"
	"github.com/holdfast-ai/holdfast/internal/text"
)

const (
	// audioLimit bounds an audio file that is transcribed, in bytes: services take no more.
	audioLimit = 25 << 20
	// saidLimit bounds a transcription, in characters.
	saidLimit = 20_000
)

// transcribe adds what is said in the attached audio files. If that fails for good, or too
// often, the model is told: the message itself deserves an answer.
func (a *Agent) transcribe(ctx context.Context, e *channels.Enriched, attempt int) error {
	if a.Channels.Transcribe == nil {
		return nil
	}
	for _, file := range e.Files {
		if !strings.HasPrefix(file.MIME, "audio/") || file.Transcribed {
			continue
		}
		said, err := a.transcribeFile(ctx, file)
		if failed := remote.As(err); failed != nil && (ctx.Err() != nil || !failed.Permanent() && attempt < enrichTriesOf(failed)) {
			return fmt.Errorf("transcribe %s: %w", file.Name, err)
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			a.Logger.Warn("audio not transcribed", "path", file.Path, "err", err)
			e.Notes = append(e.Notes, fmt.Sprintf("the transcription of %s: %v", file.Name, err))
			continue
		case said == "":
			e.Notes = append(e.Notes, fmt.Sprintf("the transcription of %s: no words were recognized", file.Name))
			continue
		}
		if e.Said == nil {
			e.Said = map[string]string{}
		}
		e.Said[file.Name] = text.CutRunes(said, saidLimit)
	}
	return nil
}

func (a *Agent) transcribeFile(ctx context.Context, file domain.SavedFile) (string, error) {
	audio, err := a.media(file.Path, audioLimit)
	if err != nil {
		return "", err
	}
	return a.Channels.Transcribe(ctx, file.Name, audio)
}
