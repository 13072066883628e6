package slack

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/slack-go/slack"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// upload sends a file. Nobody sees it before the last of its three calls, which is
// the one attempt at the message.
func (c *Channel) upload(ctx context.Context, at chat.Place, msg chat.Message) (id string, err error) {
	channel, content := channelOf(at.Chat), msg.File.Content
	if len(content) == 0 {
		content = []byte("\n") // Slack takes no empty files
	}
	var place *slack.GetUploadURLExternalResponse
	err = c.call(ctx, "files.getUploadURLExternal", "", func(ctx context.Context) (err error) {
		place, err = c.api.GetUploadURLExternalContext(ctx, slack.GetUploadURLExternalParameters{FileName: msg.File.Name, FileSize: len(content)})
		return err
	})
	if err != nil {
		return "", err
	}
	err = c.call(ctx, "upload", "", func(ctx context.Context) error {
		return c.put(ctx, place.UploadURL, content)
	})
	if err != nil {
		return "", err
	}
	err = c.call(ctx, "files.completeUploadExternal", "", func(ctx context.Context) error {
		_, err := c.api.CompleteUploadExternalContext(ctx, slack.CompleteUploadExternalParameters{
			Files:           []slack.FileSummary{{ID: place.FileID, Title: titleOf(msg.File.Name, msg.ID)}},
			Channel:         channel,
			ThreadTimestamp: at.Thread,
			InitialComment:  mrkdwn(c.withMentions(msg.Text)),
		})
		return err
	})
	if code(err) == "file_not_found" { // what was uploaded got lost, and can be uploaded anew
		err = &remote.Error{Service: Name, Status: http.StatusServiceUnavailable, Err: err}
	}
	if err != nil {
		return "", err
	}
	return place.FileID, nil
}

// titleOf is the title of a file. Slack keeps no metadata of files, so the title
// tells which message in the outbox it is.
func titleOf(name, id string) string { return name + titleMark(id) }

// isTitleOf reports whether a file with this title is the message with this ID.
func isTitleOf(title, id string) bool { return strings.HasSuffix(title, titleMark(id)) }

func titleMark(id string) string {
	sum := sha256.Sum256([]byte(id))
	return " · " + hex.EncodeToString(sum[:4])
}
