package slack

import (
	"context"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/slack-go/slack"

	"github.com/holdfast-ai/holdfast/internal/remote"
)

// unsupported are Slack's errors that mean this app cannot use a method at all.
var unsupported = map[string]bool{
	"unknown_method": true, "missing_scope": true, "not_allowed_token_type": true, "access_denied": true,
	"no_permission": true, "feature_not_enabled": true, "method_deprecated": true, "ekm_access_denied": true,
}

// canStream reports whether the draft can be a stream: in a thread, for a person,
// as long as nothing has to be told but text.
func (f *follower) canStream(seen snapshot) bool {
	return f.msg.Thread != "" && strings.IndexAny(f.msg.Sender, "UW") == 0 && (seen.doing == "" || f.sign.thread != "") &&
		!f.c.noStreams.Load() && !f.c.limits.busy("chat.startStream", f.channel)
}

// startStream starts the draft as an empty stream: one without text and metadata is
// found again if the answer is lost.
func (f *follower) startStream(ctx context.Context) error {
	team, _, _ := strings.Cut(f.msg.Chat, "/")
	err := f.try(ctx, "chat.startStream", func(ctx context.Context) (err error) {
		_, f.draft.ts, err = f.c.api.StartStreamContext(ctx, f.channel,
			slack.MsgOptionTS(f.msg.Thread), slack.MsgOptionRecipientUserID(f.msg.Sender), slack.MsgOptionRecipientTeamID(team))
		return err
	})
	if unsupported[code(err)] {
		f.c.noStreams.Store(true)
	}
	return err
}

// growStream appends to the stream what is new, and returns when to look again. A
// stream takes nothing back and tells nothing but text: if it has to, it is stopped
// and edited from then on. Nothing is appended to one that the reply has taken
// over: Slack refuses that.
func (f *follower) growStream(ctx context.Context, seen snapshot) time.Duration {
	d := f.draft
	if d.sent == "" {
		d.resets = seen.resets
	}
	if seen.resets != d.resets || seen.asked || seen.doing != "" && f.sign.thread == "" {
		return f.stopStream(ctx)
	}
	news := streamable(seen.text)[len(d.sent):]
	if news == "" || utf8.RuneCountInString(d.sent) >= draftLimit {
		return never
	}
	if wait := time.Until(d.at.Add(f.c.drafts.each(f.c.pace.stream))); wait > 0 {
		return wait
	}
	err := f.try(ctx, "chat.appendStream", func(ctx context.Context) error {
		_, _, err := f.c.api.AppendStreamContext(ctx, f.channel, d.ts, slack.MsgOptionMarkdownText(news))
		return err
	})
	d.at = time.Now()
	return f.appended(ctx, news, err)
}

// appended draws the conclusions from how an append ended.
func (f *follower) appended(ctx context.Context, news string, err error) time.Duration {
	d := f.draft
	switch {
	case err == nil:
		d.sent += news
	case code(err) == "message_not_in_streaming_state": // Slack ends streams after a while
		d.stream = false
		return 0
	case !refused(err): // nobody knows what the stream has now
		return f.stopStream(ctx)
	case remote.As(err).Permanent(): // such as stopped_by_user
		d.frozen = true
	}
	return 0
}

// stopStream makes the stream a post.
func (f *follower) stopStream(ctx context.Context) time.Duration {
	d := f.draft
	err := f.try(ctx, "chat.stopStream", func(ctx context.Context) error {
		_, _, err := f.c.api.StopStreamContext(ctx, f.channel, d.ts, slack.MsgOptionMetadata(draftMetadata(d.reply)))
		return err
	})
	switch {
	case err == nil, code(err) == "message_not_in_streaming_state":
		d.stream, d.at = false, time.Time{}
		return 0
	case remote.As(err).Permanent():
		d.frozen = true
		return never
	}
	return f.later(f.c.pace.stream)
}

// unfinished matches the end of a text that may become a call of everybody.
var unfinished = regexp.MustCompile(`[<@][!\w]{0,10}$`)

// streamable is the part of a text that can be streamed: its beginning, as long as a
// draft may be, in which nobody calls everybody. That of a longer text begins with
// that of its beginning.
func streamable(text string) string {
	if utf8.RuneCountInString(text) > draftLimit {
		text = string([]rune(text)[:draftLimit])
	}
	text = unfinished.ReplaceAllString(text, "")
	return quiet(quietCode(text))
}
