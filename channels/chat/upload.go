package chat

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// uploadMark begins the recorded ID of an upload that may not be posted yet.
const uploadMark = "upload/"

// upload uploads a file and returns what is recorded of it; empty where files are posted in
// one step. It takes the place of a draft.
func (o *Outbound) upload(ctx context.Context, msg domain.Outbound) (string, error) {
	if o.uploads == nil {
		return "", nil
	}
	if msg.Draft != "" && o.editor != nil {
		if _, err := o.takeOver(ctx, msg.Chat, msg.Draft); err != nil {
			return "", err
		}
		if err := o.editor.Delete(ctx, placeOf(msg), msg.Draft); err != nil {
			return "", err
		}
	}
	id, err := o.uploads.Upload(ctx, o.message(msg))
	if err != nil {
		return "", err
	}
	return uploadMark + id, nil
}

// publish posts an upload.
func (o *Outbound) publish(ctx context.Context, at Place, id string, msg domain.Outbound) (channels.Sent, error) {
	if err := o.space(ctx, at, msg); err != nil {
		return channels.Sent{}, err
	}
	err := o.uploads.Publish(ctx, at, id, o.message(msg))
	o.spacing.posted(at.Chat, o.pace.Part)
	if errors.Is(err, ErrNoMessage) {
		return channels.Sent{}, fmt.Errorf("%w: %w", channels.ErrNoDraft, err)
	}
	return channels.Sent{PlatformID: id}, err
}

// findFile looks for an upload among messages of its conversation.
func findFile(posted []Posted, id string) channels.Found {
	for _, p := range posted {
		for _, f := range p.Files {
			if p.Ours && f.ID == id {
				return channels.Found{Posted: true, PlatformID: id}
			}
		}
	}
	return channels.Found{}
}
