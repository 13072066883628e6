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
	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// mediaDir is where attached files are kept, in the workspace.
const mediaDir = "media"

const (
	// gatherTries bounds the attempts to get what belongs to a message. After them the
	// model is told that it could not be had: the message itself is worth an answer.
	gatherTries = 3
	// gatherWaits is the same while the platform asks us to wait, which is no failure.
	// The model call needs what is left of [serviceTries].
	gatherWaits = 6
)

// gather asks the channel for what belongs to the messages that the step takes in,
// once: it is stored with them.
func (a *Agent) gather(ctx context.Context, in protocol.CompleteInput, attempt int) error {
	gatherer := a.Channels.Gatherers[in.Session.Channel]
	if gatherer == nil {
		return nil
	}
	for _, id := range in.Messages {
		message, err := a.Store.Inbound(ctx, id)
		if err != nil {
			return fmt.Errorf("read message %s: %w", id, err)
		}
		if message.Gathered != nil || message.Turn != "" {
			continue
		}
		if err := a.gatherFor(ctx, gatherer, message, attempt); err != nil {
			return err
		}
	}
	return nil
}

func (a *Agent) gatherFor(ctx context.Context, gatherer channels.Gatherer, message domain.Inbound, attempt int) error {
	since, err := a.Store.Before(ctx, message.ID)
	if err != nil {
		return err
	}
	gathered, err := gatherer.Gather(ctx, channels.Gathering{
		Message: message, Since: since,
		Save: func(name string, content io.Reader) (string, error) { return a.saveMedia(message.ID, name, content) },
	})
	if failed := remote.As(err); failed != nil && ctx.Err() == nil && (failed.Permanent() || attempt >= triesOf(failed)) {
		a.Logger.Warn("message taken without what belongs to it", "session", message.Session, "message", message.ID, "err", err)
		gathered = channels.Gathered{
			Text:  message.Text,
			Notes: []string{"attached files and earlier messages of this thread could not be read: " + err.Error()},
		}
		err = nil
	}
	if err != nil {
		return fmt.Errorf("gather what belongs to message %s: %w", message.ID, err)
	}
	failpoint.Hit("gather.done")
	_, err = a.Store.SaveGathered(ctx, message.ID, domain.Gathered{
		Text: told(gathered), SenderName: gathered.SenderName, Zone: gathered.Zone, Files: gathered.Files,
	})
	failpoint.Hit("gather.stored")
	return err
}

// triesOf is how many attempts to gather there are if they fail like this.
func triesOf(failed *remote.Error) int {
	if failed.Status == http.StatusTooManyRequests {
		return gatherWaits
	}
	return gatherTries
}

// told is all that was gathered as one text.
func told(g channels.Gathered) string {
	var b strings.Builder
	if len(g.Before) > 0 {
		b.WriteString("[Said in this thread before]\n")
		for _, m := range g.Before {
			fmt.Fprintf(&b, "%s (%s): %s\n", m.Name, m.SentAt.UTC().Format("2006-01-02 15:04 UTC"), m.Text)
		}
		b.WriteString("[What you are asked]\n")
	}
	b.WriteString(g.Text)
	for _, file := range g.Files {
		fmt.Fprintf(&b, "\n[Attached: %s (%s), saved as %s]", file.Name, file.MIME, file.Path)
	}
	for _, note := range g.Notes {
		fmt.Fprintf(&b, "\n[Not available: %s]", note)
	}
	return strings.TrimSpace(b.String())
}

// saveMedia keeps an attached file in the workspace and returns its path.
func (a *Agent) saveMedia(message, name string, content io.Reader) (saved string, err error) {
	root, err := os.OpenRoot(a.Workspace)
	if err != nil {
		return "", fmt.Errorf("open the workspace: %w", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	dir := path.Join(mediaDir, message)
	if err := root.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make the folder of attached files: %w", err)
	}
	to := path.Join(dir, path.Base(filepath.ToSlash(name)))
	part := to + ".part"
	file, err := root.OpenFile(part, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		return "", fmt.Errorf("keep an attached file: %w", err)
	}
	_, err = io.Copy(file, content)
	if err = errors.Join(err, file.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("keep an attached file: %w", err), root.Remove(part))
	}
	if err := root.Rename(part, to); err != nil {
		return "", fmt.Errorf("keep an attached file: %w", err)
	}
	return filepath.Join(a.Workspace, filepath.FromSlash(to)), nil
}

// imageTypes are the pictures that models take.
var imageTypes = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true}

// imageLimit bounds the pictures of a model call, in bytes.
const imageLimit = 20 << 20

// images reads the pictures that came with messages, by message. One that is not
// there any more, or is too much, is left out: its path is in the text.
func (a *Agent) images(inbound []domain.Inbound) map[string][]llm.Image {
	images := map[string][]llm.Image{}
	room := imageLimit
	for _, in := range inbound {
		if in.Gathered == nil {
			continue
		}
		for _, file := range in.Gathered.Files {
			if !imageTypes[file.MIME] {
				continue
			}
			data, err := os.ReadFile(file.Path)
			if err != nil || len(data) > room {
				a.Logger.Warn("picture left out of the prompt", "path", file.Path, "bytes", len(data), "err", err)
				continue
			}
			room -= len(data)
			images[in.ID] = append(images[in.ID], llm.Image{MIME: file.MIME, Data: data})
		}
	}
	return images
}
