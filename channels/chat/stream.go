package chat

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-ai/holdfast/internal/remote"
)

// canStream reports whether the draft can be a stream: if it shows only text, or a status
// shows the rest.
func (t *turn) canStream(seen snapshot) bool {
	return t.o.stream != nil && !t.o.noStreams.Load() && (seen.doing == "" || t.indicatesText()) && t.o.stream.CanStream(t.place())
}

func (t *turn) indicatesText() bool { return t.signs.asked && t.signs.how.Text }

// startStream starts the draft as an empty stream: one without text is found again if
// the answer is lost.
func (t *turn) startStream(ctx context.Context) (err error) {
	call, cancel := t.o.optional(ctx)
	defer cancel()
	t.draft.id, err = t.o.stream.StartStream(call, t.place())
	t.note("starting a stream", err)
	if errors.Is(err, errors.ErrUnsupported) {
		t.o.noStreams.Store(true)
	}
	return err
}

// growStream appends to the stream what is new, and returns when to look again. A
// stream takes nothing back and shows nothing but text: if it has to, it is stopped and
// edited from then on.
func (t *turn) growStream(ctx context.Context, seen snapshot) time.Duration {
	d := t.draft
	if d.sent == "" {
		d.resets = seen.resets
	}
	if seen.resets != d.resets || seen.asked || seen.doing != "" && !t.indicatesText() {
		return t.stopStream(ctx)
	}
	text := seen.text
	if runes := []rune(text); len(runes) > t.draftLimit() {
		text = string(runes[:t.draftLimit()])
	}
	news := t.o.stream.Streamable(text)[len(d.sent):]
	if news == "" {
		return never
	}
	if wait := time.Until(d.at.Add(t.o.pace.Stream * time.Duration(t.o.shown()))); wait > 0 && !t.ending(ctx) {
		return wait
	}
	call, cancel := t.o.optional(ctx)
	defer cancel()
	err := t.o.stream.AppendStream(call, t.place(), d.id, news)
	t.note("appending to a stream", err)
	d.at = time.Now()
	switch failed := remote.As(err); {
	case err == nil:
		d.sent += news
	case errors.Is(err, ErrStreamEnded):
		d.stream = false
	case !refused(err): // what the stream has now is unknown
		return t.stopStream(ctx)
	case failed != nil && failed.Permanent():
		d.frozen = true
	}
	return 0
}

// stopStream makes the stream a post.
func (t *turn) stopStream(ctx context.Context) time.Duration {
	d := t.draft
	call, cancel := t.o.optional(ctx)
	defer cancel()
	err := t.o.stream.StopStream(call, t.place(), d.id, t.reply)
	t.note("stopping a stream", err)
	switch failed := remote.As(err); {
	case err == nil:
		d.stream, d.at = false, time.Time{}
		return 0
	case failed != nil && failed.Permanent():
		d.frozen = true
		return never
	}
	return t.later(t.o.pace.Stream)
}
