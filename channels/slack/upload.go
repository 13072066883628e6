package slack

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/slack-go/slack"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// Upload implements [chat.Uploader].
func (p *platform) Upload(ctx context.Context, msg chat.Message) (id string, err error) {
	content := msg.Content
	if len(content) == 0 {
		content = []byte("\n") // Slack takes no empty files
	}
	place, err := ask(ctx, p, "files.getUploadURLExternal", func(ctx context.Context) (*slack.GetUploadURLExternalResponse, error) {
		return p.api.GetUploadURLExternalContext(ctx, slack.GetUploadURLExternalParameters{FileName: msg.File, FileSize: len(content)})
	})
	if err != nil {
		return "", err
	}
	err = p.call(ctx, "upload", "", func(ctx context.Context) error {
		return p.put(ctx, place.UploadURL, content)
	})
	return place.FileID, err
}

// Publish implements [chat.Uploader].
func (p *platform) Publish(ctx context.Context, at chat.Place, id string, msg chat.Message) error {
	err := p.call(ctx, "files.completeUploadExternal", "", func(ctx context.Context) error {
		_, err := p.api.CompleteUploadExternalContext(ctx, slack.CompleteUploadExternalParameters{
			Files:           []slack.FileSummary{{ID: id, Title: msg.File}},
			Channel:         channelOf(at.Chat),
			ThreadTimestamp: at.Thread,
			InitialComment:  mrkdwn(p.withMentions(msg.Text)),
		})
		return err
	})
	if code(err) == "file_not_found" {
		return fmt.Errorf("%w: %w", chat.ErrNoMessage, err)
	}
	return err
}

// upload posts a file that was not uploaded before.
func (p *platform) upload(ctx context.Context, at chat.Place, msg chat.Message) (id string, err error) {
	if id, err = p.Upload(ctx, msg); err != nil {
		return "", err
	}
	err = p.Publish(ctx, at, id, msg)
	if errors.Is(err, chat.ErrNoMessage) { // the upload was lost and can be repeated
		err = &remote.Error{Service: Name, Status: http.StatusServiceUnavailable, Err: err}
	}
	return id, err
}
