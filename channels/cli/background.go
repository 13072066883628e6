package cli

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/text"
)

// backgroundPause is the time between two polls for background replies.
const backgroundPause = time.Second

// background finds the replies of a conversation that answer no message of a person,
// each once.
type background struct {
	c     *Conversation
	after time.Time // when the last one ended
}

// background starts after the last reply that was shown; if none was, now.
func (c *Conversation) background() (*background, error) {
	after, err := c.seen.begin()
	return &background{c: c, after: after}, err
}

// poll returns the new replies, oldest first; none if the agent is unreachable.
func (b *background) poll(ctx context.Context) (found []domain.BackgroundReply) {
	for {
		replies, err := b.c.agent.Background(ctx, b.c.session, b.after)
		b.c.link.tried(ctx, err)
		if err != nil || len(replies) == 0 {
			return found
		}
		b.after = replies[len(replies)-1].EndedAt
		found = append(found, replies...)
	}
}

// watch calls on with each new reply until ctx ends.
func (b *background) watch(ctx context.Context, on func(domain.BackgroundReply)) {
	for {
		for _, r := range b.poll(ctx) {
			on(r)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(backgroundPause):
		}
	}
}

// saw records that a background reply was shown.
func (c *Conversation) saw(r domain.BackgroundReply) { c.seen.advance(r.EndedAt) }

// headline introduces a background reply: [job "plants", 15:04].
func headline(r domain.BackgroundReply) string {
	at := r.EndedAt.Local()
	when := at.Format("15:04")
	if today := time.Now(); at.YearDay() != today.YearDay() || at.Year() != today.Year() {
		when = at.Format("Jan 2 15:04")
	}
	what := cmp.Or(string(r.Cause), "background")
	if label := text.Line(clean(r.Label)); label != "" {
		what += fmt.Sprintf(" %q", label)
	}
	return "[" + what + ", " + when + "]"
}
