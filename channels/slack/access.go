package slack

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/slack-go/slack"

	"github.com/holdfast-ai/holdfast/channels"
)

const (
	// tellEvery is how often somebody is told that they are not allowed.
	tellEvery = time.Hour
	// maxTelling bounds how many are told at once; nobody waits for it.
	maxTelling = 8
)

// asker is who wants something of us, and where.
type asker struct {
	channel string // Slack's ID
	thread  string // that an explanation belongs into; empty: none
	direct  bool   // the channel is a direct message
	user    string
	name    string // empty: unknown
	bot     bool
}

// refusal is why somebody is not allowed; empty: they are.
type refusal string

const (
	refusedChannel refusal = "the channel is not allowed"
	refusedUser    refusal = "the user is not allowed"
)

// allowsBot reports whether a bot that has these IDs may ask us. There is no
// entry for all of them: two bots that answer each other never end.
func (c *Channel) allowsBot(ids ...string) bool {
	return slices.ContainsFunc(ids, func(id string) bool { return id != "" && slices.Contains(c.o.AllowBots, id) })
}

// access decides who may ask us: nobody but who is listed or was let in.
func (r *receiver) access(ctx context.Context, a asker) (refusal, error) {
	if !a.direct && !listed(r.c.o.AllowChannels, a.channel) {
		return refusedChannel, nil
	}
	if a.bot || listed(r.c.o.AllowUsers, a.user) {
		return "", nil
	}
	paired, err := r.b.Paired(ctx, Name, a.user)
	if err != nil {
		return "", fmt.Errorf("look whether the sender is paired: %w", err)
	}
	if !paired {
		return refusedUser, nil
	}
	return "", nil
}

func listed(list []string, id string) bool {
	return slices.Contains(list, channels.Anyone) || slices.Contains(list, id)
}

// refuse notes that somebody was not allowed, and tells them once in a while if
// they expect an answer.
func (r *receiver) refuse(a asker, why refusal, expected bool) {
	r.log.Info("sender refused", "why", string(why), "channel_id", a.channel, "user_id", a.user)
	if a.bot || !expected && !a.direct {
		return
	}
	about := a.channel + "/" + a.user
	if !r.c.told.first(about, tellEvery) {
		return
	}
	started := r.telling.TryGo(func() error {
		ctx, cancel := context.WithTimeout(r.work, callTimeout)
		defer cancel()
		if err := r.explain(ctx, a, why); err != nil {
			r.c.told.undo(about)
			r.log.Warn("refused sender not told", "user_id", a.user, "err", err)
		}
		return nil
	})
	if !started {
		r.c.told.undo(about)
	}
}

// explain tells somebody why they are not answered.
func (r *receiver) explain(ctx context.Context, a asker, why refusal) error {
	if a.direct && a.name == "" {
		// The operator reads it; it is not worth failing for.
		if who, err := r.c.who(ctx, a.user); err == nil {
			a.name = who.name
		}
	}
	text, err := r.explanation(ctx, a, why)
	if err != nil {
		return err
	}
	return r.c.tell(ctx, a, text)
}

// tell tells somebody something: in a channel, so that only they see it.
func (c *Channel) tell(ctx context.Context, a asker, text string) error {
	options := []slack.MsgOption{slack.MsgOptionText(text, false), slack.MsgOptionDisableLinkUnfurl()}
	if a.thread != "" {
		options = append(options, slack.MsgOptionTS(a.thread))
	}
	if a.direct {
		return c.call(ctx, "chat.postMessage", a.channel, func(ctx context.Context) error {
			_, _, err := c.api.PostMessageContext(ctx, a.channel, options...)
			return err
		})
	}
	return c.call(ctx, "chat.postEphemeral", a.channel, func(ctx context.Context) error {
		_, err := c.api.PostEphemeralContext(ctx, a.channel, a.user, options...)
		return err
	})
}

// explanation says what somebody can do to be answered.
func (r *receiver) explanation(ctx context.Context, a asker, why refusal) (string, error) {
	switch {
	case why == refusedChannel:
		return "I don't answer in this channel yet. Whoever runs me can add `" + a.channel + "` to `channels.slack.allow_channels`.", nil
	case !a.direct:
		return "I don't know you yet, so I may not answer. Send me a direct message to be let in, " +
			"or ask whoever runs me to add `" + a.user + "` to `channels.slack.allow_users`.", nil
	}
	code, err := r.b.Pair(ctx, Name, a.user, cmp.Or(a.name, a.user))
	if err != nil {
		return "", fmt.Errorf("get a pairing code: %w", err)
	}
	return "I don't know you yet, so I may not answer. Ask whoever runs me to let you in with\n```holdfast pairing approve " + code + "```", nil
}
