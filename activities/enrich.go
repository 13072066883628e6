package activities

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/failpoint"
	"github.com/holdfast-ai/holdfast/internal/prompt"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/remote"
	"github.com/holdfast-ai/holdfast/internal/safefile"
	"github.com/holdfast-ai/holdfast/internal/text"
)

// mediaDir is the folder of attached files in the workspace.
const mediaDir = "media"

const (
	// enrichTries bounds the attempts to enrich a message. After them the model is told
	// what is missing: the message itself deserves an answer.
	enrichTries = 3
	// enrichWaits is the same while the platform asks us to wait. The model call needs
	// what is left of [serviceTries].
	enrichWaits = 6
)

// enrich has the channel add names, files and earlier messages to the messages that the
// step consumes. The result is stored, so it happens once per message.
func (a *Agent) enrich(ctx context.Context, in protocol.CompleteInput, attempt int) error {
	enricher := a.Channels.Enrichers[in.Session.Channel]
	if enricher == nil {
		return nil
	}
	for _, id := range in.Messages {
		message, err := a.Store.Inbound(ctx, id)
		if err != nil {
			return fmt.Errorf("read message %s: %w", id, err)
		}
		if message.Enriched != nil || message.Turn != "" {
			continue
		}
		if err := a.enrichOne(ctx, enricher, message, attempt); err != nil {
			return err
		}
	}
	return nil
}

func (a *Agent) enrichOne(ctx context.Context, enricher channels.Enricher, message domain.Inbound, attempt int) error {
	since, err := a.Store.Before(ctx, message.ID)
	if err != nil {
		return err
	}
	enriched, err := enricher.Enrich(ctx, channels.Enrichment{
		Message: message, Since: since,
		Save: func(name string, content io.Reader) (string, error) { return a.saveMedia(message.ID, name, content) },
		Paired: func(ctx context.Context, sender string) (bool, error) {
			return a.Store.Paired(ctx, message.Channel, sender)
		},
	})
	if failed := remote.As(err); failed != nil && ctx.Err() == nil && (failed.Permanent() || attempt >= enrichTriesOf(failed)) {
		a.Logger.Warn("message accepted without its files and context", "session", message.Session, "message", message.ID, "err", err)
		enriched = channels.Enriched{
			Text:  message.Text,
			Notes: []string{"attached files and earlier messages of this thread could not be read: " + err.Error()},
		}
		err = nil
	}
	if err == nil {
		err = a.transcribe(ctx, &enriched, attempt)
	}
	if err != nil {
		return fmt.Errorf("enrich message %s: %w", message.ID, err)
	}
	failpoint.Hit("enrich.done")
	if message.IsOurs() {
		enriched.Text = message.Text
	} else {
		enriched.Text = text.Escape(enriched.Text)
	}
	_, err = a.Store.SaveEnriched(ctx, message.ID, domain.Enriched{
		Text: enrichedText(enriched), SenderName: enriched.SenderName, Zone: enriched.Zone, Files: enriched.Files,
	})
	failpoint.Hit("enrich.stored")
	return err
}

// enrichTriesOf returns how many attempts are made that fail like this.
func enrichTriesOf(failed *remote.Error) int {
	if failed.Status == http.StatusTooManyRequests {
		return enrichWaits
	}
	return enrichTries
}

// enrichedText is an enriched message, whose text is escaped, as the model reads it.
func enrichedText(e channels.Enriched) string {
	var b strings.Builder
	if len(e.Before) > 0 {
		b.WriteString("[Earlier in this thread]\n")
		for _, m := range e.Before {
			b.WriteString(earlier(m))
		}
		b.WriteString("[Request]\n")
	}
	b.WriteString(e.Text)
	for _, file := range e.Files {
		fmt.Fprintf(&b, "\n[Attached: %s (%s), saved as %s]", file.Name, text.Line(file.MIME), file.Path)
		if said := e.Said[file.Name]; said != "" {
			fmt.Fprintf(&b, "\n[Transcription of %s]\n%s", file.Name, text.Quote(said))
		}
	}
	for _, note := range e.Notes {
		fmt.Fprintf(&b, "\n[Not available: %s]", text.Line(note))
	}
	return strings.TrimSpace(b.String())
}

// earlier quotes an earlier message of the thread. The time goes first, so that no name can
// start a line.
func earlier(m channels.Earlier) string {
	var b strings.Builder
	b.WriteString(m.SentAt.UTC().Format("2006-01-02 15:04 UTC") + ", " + text.Name(m.Name))
	if m.Stranger {
		b.WriteString(prompt.StrangerMark)
	}
	for i, name := range m.Files {
		b.WriteString([...]string{", with ", ", "}[min(i, 1)] + text.Name(name))
	}
	if strings.TrimSpace(m.Text) != "" {
		b.WriteString(":\n" + text.Quote(m.Text))
	}
	return b.String() + "\n"
}

// saveMedia saves an attached file and returns its path in the workspace.
func (a *Agent) saveMedia(message, name string, content io.Reader) (saved string, err error) {
	root, err := os.OpenRoot(a.Workspace)
	if err != nil {
		return "", fmt.Errorf("open the workspace: %w", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	dir := path.Join(mediaDir, message)
	if err := root.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("create the folder of attached files: %w", err)
	}
	to := path.Join(dir, path.Base(filepath.ToSlash(name)))
	part := to + ".part"
	if err := safefile.Write(root, part, content); err != nil {
		return "", errors.Join(fmt.Errorf("save an attached file: %w", err), root.RemoveAll(part))
	}
	if err := root.Rename(part, to); err != nil {
		return "", fmt.Errorf("save an attached file: %w", err)
	}
	return to, nil
}

// imageTypes are the image types that models accept.
var imageTypes = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true}

// imageLimit bounds the images of a model call, in bytes.
const imageLimit = 20 << 20

// images reads the images attached to messages, by message. Missing ones and those above
// the limit are skipped: their paths are in the text.
func (a *Agent) images(inbound []domain.Inbound) map[string][]domain.Image {
	images := map[string][]domain.Image{}
	room := imageLimit
	for _, in := range inbound {
		if in.Enriched == nil {
			continue
		}
		for _, file := range in.Enriched.Files {
			if !imageTypes[file.MIME] {
				continue
			}
			data, err := a.media(file.Path, room)
			if err != nil {
				a.Logger.Warn("image left out of the prompt", "path", file.Path, "err", err)
				continue
			}
			room -= len(data)
			images[in.ID] = append(images[in.ID], domain.Image{MIME: file.MIME, Data: data})
		}
	}
	return images
}

// media reads a file that was saved in the workspace.
func (a *Agent) media(name string, limit int) ([]byte, error) {
	root, err := os.OpenRoot(a.Workspace)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return safefile.Read(root, name, limit)
}
