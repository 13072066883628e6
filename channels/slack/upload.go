package slack

import (
	"context"
	"net/http"

	"github.com/slack-go/slack"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// upload posts a file. It is visible only after the last of the three calls, which is the
// attempt to post.
func (p *platform) upload(ctx context.Context, at chat.Place, msg chat.Message) (id string, err error) {
	channel, content := channelOf(at.Chat), msg.Content
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
	if err != nil {
		return "", err
	}
	err = p.call(ctx, "files.completeUploadExternal", "", func(ctx context.Context) error {
		_, err := p.api.CompleteUploadExternalContext(ctx, slack.CompleteUploadExternalParameters{
			Files:           []slack.FileSummary{{ID: place.FileID, Title: titleOf(msg.File, msg.ID)}},
			Channel:         channel,
			ThreadTimestamp: at.Thread,
			InitialComment:  mrkdwn(p.withMentions(msg.Text)),
		})
		return err
	})
	if code(err) == "file_not_found" { // the upload was lost and can be repeated
		err = &remote.Error{Service: Name, Status: http.StatusServiceUnavailable, Err: err}
	}
	if err != nil {
		return "", err
	}
	return place.FileID, nil
}
