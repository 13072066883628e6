package cli

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
)

// unaskedPause is how long after a look for replies that came unasked the next follows.
const unaskedPause = time.Second

// unasked finds the replies of a conversation that nobody wrote for, each once.
type unasked struct {
	c     *Conversation
	after time.Time // when the last of them ended
}

// unasked begins after what was shown before. Without that it begins now.
func (c *Conversation) unasked() (*unasked, error) {
	after, err := c.seen.begin()
	return &unasked{c: c, after: after}, err
}

// look returns what is new, oldest first. An agent that is away has nothing new.
func (u *unasked) look(ctx context.Context) (news []channels.UnaskedReply) {
	for {
		replies, err := u.c.agent.Unasked(ctx, u.c.session, u.after)
		if err != nil || len(replies) == 0 {
			return news
		}
		u.after = replies[len(replies)-1].EndedAt
		news = append(news, replies...)
	}
}

// watch calls on with what is new until ctx ends.
func (u *unasked) watch(ctx context.Context, on func(channels.UnaskedReply)) {
	for {
		for _, r := range u.look(ctx) {
			on(r)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(unaskedPause):
		}
	}
}

// saw notes that a reply was shown that came unasked.
func (c *Conversation) saw(r channels.UnaskedReply) { c.seen.advance(r.EndedAt) }

// headline says what a reply is of, in a line.
func headline(r channels.UnaskedReply) string {
	at := r.EndedAt.Local()
	when := at.Format("15:04")
	if today := time.Now(); at.YearDay() != today.YearDay() || at.Year() != today.Year() {
		when = at.Format("Jan 2 15:04")
	}
	what := cmp.Or(string(r.Cause), "unasked")
	if label := oneLine(clean(r.Label)); label != "" {
		what += fmt.Sprintf(" %q", label)
	}
	return "[" + what + ", " + when + "]"
}
