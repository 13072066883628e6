package slack

import (
	"context"
	"strings"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackutilsx"

	"github.com/holdfast-ai/holdfast/internal/remote"
)

// draftLimit bounds in characters what a draft shows of a reply.
const draftLimit = 3500

// editDraft has the draft say what is so now. An edit that surely ended before the
// turn did came before the reply; see [follower.settle] for the others.
func (f *follower) editDraft(ctx context.Context, seen snapshot) time.Duration {
	d, shown := f.draft, contentOf(seen)
	if shown == d.shown {
		return never
	}
	if wait := time.Until(d.at.Add(f.c.drafts.each(f.c.pace.edit))); wait > 0 {
		return wait
	}
	if !f.running(ctx) {
		return f.later(f.c.pace.edit)
	}
	var err error
	made := d.lock.edit(func() {
		err = f.try(ctx, "chat.update", func(ctx context.Context) error {
			_, _, _, err := f.c.api.UpdateMessageContext(ctx, f.channel, d.ts, f.written(shown))
			return err
		})
	})
	d.at = time.Now()
	switch {
	case !made:
		d.frozen = true
	case err == nil:
		d.shown = shown
		d.late = !f.running(ctx)
	case !refused(err):
		d.lost = time.Now()
	case code(err) == streaming:
		d.stream = true
	case remote.As(err).Permanent(): // there is nothing to edit any more
		d.frozen = true
	}
	return 0
}

// content is what an edit shows.
type content struct{ text, doing string }

func contentOf(seen snapshot) content {
	shown := content{text: ending(seen.text), doing: seen.doing}
	if shown.text == "" && shown.doing == "" {
		shown.doing = thinking
	}
	return shown
}

// ending is the end of a text that is longer than a draft may be.
func ending(text string) string {
	runes := []rune(strings.TrimSpace(text))
	if len(runes) <= draftLimit {
		return string(runes)
	}
	return "…" + string(runes[len(runes)-draftLimit:])
}

// written is a draft as Slack takes it.
func (f *follower) written(shown content) slack.MsgOption {
	var parts []slack.Block
	if shown.text != "" {
		parts = blocks(shown.text)
	}
	if shown.doing != "" {
		parts = append(parts, slack.NewContextBlock("", slack.NewTextBlockObject(slack.PlainTextType, shown.doing, false, false)))
	}
	stop := slack.NewButtonBlockElement(stopAction, f.msg.Thread, slack.NewTextBlockObject(slack.PlainTextType, "Stop", false, false))
	parts = append(parts, slack.NewActionBlock("", stop))
	text := mrkdwn(shown.text)
	if text == "" {
		text = slackutilsx.EscapeMessage(shown.doing)
	}
	return slack.MsgOptionCompose(
		slack.MsgOptionText(text, false), slack.MsgOptionBlocks(parts...),
		slack.MsgOptionMetadata(draftMetadata(f.draft.reply)),
	)
}
