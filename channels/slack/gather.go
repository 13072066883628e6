package slack

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/slack-go/slack"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	earlierMost  = 50   // messages said before
	earlierLimit = 4000 // characters of one
)

// Gather implements [channels.Gatherer].
func (c *Channel) Gather(ctx context.Context, g channels.Gathering) (channels.Gathered, error) {
	self, err := c.Identify(ctx)
	if err != nil {
		return channels.Gathered{}, err
	}
	w := gathering{c: c, self: self, Gathering: g, noted: map[string]bool{}}
	for _, step := range []func(context.Context) error{w.text, w.sender, w.before, w.files} {
		if err := step(ctx); err != nil {
			return channels.Gathered{}, err
		}
	}
	return w.out, nil
}

// gathering is one attempt to gather what belongs to a message.
type gathering struct {
	channels.Gathering
	c     *Channel
	self  Identity
	out   channels.Gathered
	noted map[string]bool
}

func (w *gathering) text(ctx context.Context) (err error) {
	w.out.Text, err = w.named(ctx, w.Message.Text)
	return err
}

func (w *gathering) sender(ctx context.Context) error {
	k, err := w.who(ctx, w.Message.Sender)
	w.out.SenderName, w.out.Zone = cmp.Or(k.name, w.Message.SenderName), k.zone
	return err
}

// before gathers what was said in the thread that the session has not seen: all if
// the message is the session's first, or else what was not said to us, if that is
// not taken in anyway.
func (w *gathering) before(ctx context.Context) error {
	thread, ts := w.Message.Thread, w.ts()
	seen := !w.Since.IsZero() && (w.c.o.Respond != RespondMention || isDirect(channelOf(w.Message.Chat)))
	if thread == "" || thread == ts || seen {
		return nil
	}
	in := span{channel: channelOf(w.Message.Chat), thread: thread, latest: ts}
	if !w.Since.IsZero() {
		in.oldest = tsAt(w.Since)
	}
	messages, err := w.c.read(ctx, in)
	if err := w.lacking("what was said in this thread before", err); err != nil {
		return err
	}
	for _, m := range messages {
		if !w.isNews(m, in) {
			continue
		}
		earlier, err := w.earlier(ctx, m)
		if err != nil {
			return err
		}
		w.out.Before = append(w.out.Before, earlier)
	}
	if n := len(w.out.Before); n > earlierMost {
		w.out.Before = append(w.out.Before[:1:1], w.out.Before[n-earlierMost+1:]...)
	}
	return nil
}

// ts is Slack's name of the message.
func (w *gathering) ts() string {
	if timestamp.MatchString(w.Message.PlatformID) {
		return w.Message.PlatformID
	}
	return tsAt(w.Message.SentAt)
}

// isNews reports whether a message of the thread is one that the session does not
// know. It knows what we wrote, unless that is what the thread is about and it is
// new.
func (w *gathering) isNews(m posted, in span) bool {
	switch {
	case m.TS <= in.oldest || m.TS >= in.latest, !postSubTypes[m.SubType]:
		return false
	case m.of(w.self) && (in.oldest != "" || m.TS != in.thread):
		return false
	}
	return m.text("") != "" || len(m.Files) > 0
}

func (w *gathering) earlier(ctx context.Context, m posted) (channels.Earlier, error) {
	text, err := w.named(ctx, m.text(w.self.UserID))
	if err != nil {
		return channels.Earlier{}, err
	}
	var names []string
	for _, f := range m.files() {
		names = append(names, f.Name)
	}
	if len(names) > 0 {
		text = joined("\n", text, "[Attached: "+strings.Join(names, ", ")+"]")
	}
	if utf8.RuneCountInString(text) > earlierLimit {
		text = string([]rune(text)[:earlierLimit-1]) + "…"
	}
	name, err := w.author(ctx, m)
	return channels.Earlier{Name: name, Text: text, SentAt: sentAt(m.TS)}, err
}

func (w *gathering) author(ctx context.Context, m posted) (string, error) {
	if m.of(w.self) {
		return "you", nil
	}
	name := cmp.Or(m.senderName(), m.Profile.Name)
	if m.isBot() && name != "" {
		return name, nil
	}
	k, err := w.who(ctx, m.User)
	return cmp.Or(k.name, name, m.sender()), err
}

// named is [Channel.withNames], without names that cannot be had.
func (w *gathering) named(ctx context.Context, text string) (string, error) {
	text, err := w.c.withNames(ctx, text)
	return text, w.lacking("the names of people and channels", err)
}

// who is [Channel.who], knowing nothing of those who cannot be asked for.
func (w *gathering) who(ctx context.Context, id string) (known, error) {
	if !isUser(id) {
		return known{}, nil
	}
	k, err := w.c.who(ctx, id)
	return k, w.lacking("the names of people and channels", err)
}

// lacking notes what cannot be had until somebody changes something. It returns
// the errors that another attempt may cure.
func (w *gathering) lacking(what string, err error) error {
	if err == nil {
		return nil
	}
	answer := code(err)
	failed := remote.As(err)
	if misconfigured[answer] == "" && (failed == nil || !failed.Permanent()) {
		return err
	}
	w.note(what + ": " + reason(err))
	return nil
}

func (w *gathering) note(text string) {
	if !w.noted[text] {
		w.noted[text] = true
		w.out.Notes = append(w.out.Notes, text)
	}
}

// reason says in a few words why something cannot be had.
func reason(err error) string {
	answer, _ := errors.AsType[slack.SlackErrorResponse](err)
	if answer.Needed != "" {
		return "the app lacks the scope " + answer.Needed
	}
	return cmp.Or(misconfigured[answer.Err], answer.Err, err.Error())
}
