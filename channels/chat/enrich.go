package chat

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	maxEarlier   = 50   // earlier messages
	earlierLimit = 4000 // characters of one
	theNames     = "the names of people and channels"
	theThread    = "what was said in this thread before"
)

// EnricherOptions are the settings of an [Enricher].
type EnricherOptions struct {
	FileLimit int64  // bytes of an attached file
	Respond   string // as in [ReceiverOptions]
}

// Enricher is the half of a chat platform that adds to a message what was not delivered
// with it; workers run it.
type Enricher struct {
	platform Platform
	o        EnricherOptions
}

// NewEnricher returns the enricher of a platform.
func NewEnricher(p Platform, o EnricherOptions) *Enricher { return &Enricher{p, o} }

// Enrich implements [channels.Enricher].
func (e *Enricher) Enrich(ctx context.Context, msg channels.Enrichment) (channels.Enriched, error) {
	w := enrichment{Enricher: e, Enrichment: msg, noted: map[string]bool{}}
	for _, step := range []func(context.Context) error{w.text, w.sender, w.before, w.files} {
		if err := step(ctx); err != nil {
			return channels.Enriched{}, err
		}
	}
	return w.out, nil
}

// enrichment is one attempt to enrich a message.
type enrichment struct {
	*Enricher
	channels.Enrichment
	out   channels.Enriched
	noted map[string]bool
}

func (w *enrichment) text(ctx context.Context) (err error) {
	w.out.Text, err = w.withNames(ctx, w.Message.Text)
	return err
}

func (w *enrichment) sender(ctx context.Context) error {
	who, err := w.who(ctx, w.Message.Sender)
	w.out.SenderName, w.out.Zone = cmp.Or(who.Name, w.Message.SenderName), who.Zone
	return err
}

// before adds what was said in the thread that the session has not seen: everything if
// the message is the session's first, else what was not said to us.
func (w *enrichment) before(ctx context.Context) error {
	history, ok := w.platform.(History)
	thread := w.Message.Thread
	if !ok || thread == "" || thread == w.Message.PlatformID || !w.Since.IsZero() && w.seesAll() {
		return nil
	}
	posts, err := history.History(ctx, Place{Chat: w.Message.Chat, Thread: thread}, Query{After: w.Since, Before: w.Message.SentAt})
	if err := w.lacking(theThread, err); err != nil {
		return err
	}
	for _, p := range posts {
		if !w.isNews(p) {
			continue
		}
		earlier, err := w.earlier(ctx, p)
		if err != nil {
			return err
		}
		w.out.Before = append(w.out.Before, earlier)
	}
	if n := len(w.out.Before); n > maxEarlier {
		w.out.Before = append(w.out.Before[:1:1], w.out.Before[n-maxEarlier+1:]...)
	}
	return nil
}

// seesAll reports whether a session that has begun is given all messages of its thread.
func (w *enrichment) seesAll() bool {
	chats, ok := w.platform.(Directs)
	return w.o.Respond != RespondMention || ok && chats.IsDirect(w.Message.Chat)
}

// isNews reports whether the session does not know a message of the thread. It knows
// what we wrote, unless we began the thread and the session is new.
func (w *enrichment) isNews(p Posted) bool {
	switch {
	case p.ID == w.Message.PlatformID, !p.SentAt.After(w.Since), !w.Message.SentAt.IsZero() && !p.SentAt.Before(w.Message.SentAt):
		return false
	case p.Ours && (!w.Since.IsZero() || p.ID != w.Message.Thread):
		return false
	}
	return p.Text != "" || len(p.Files) > 0
}

func (w *enrichment) earlier(ctx context.Context, p Posted) (channels.Earlier, error) {
	text, err := w.withNames(ctx, p.Text)
	if err != nil {
		return channels.Earlier{}, err
	}
	var names []string
	for _, f := range p.Files {
		names = append(names, f.Name)
	}
	if len(names) > 0 {
		text = strings.TrimPrefix(text+"\n[Attached: "+strings.Join(names, ", ")+"]", "\n")
	}
	if utf8.RuneCountInString(text) > earlierLimit {
		text = string([]rune(text)[:earlierLimit-1]) + "…"
	}
	name, err := w.author(ctx, p)
	return channels.Earlier{Name: name, Text: text, SentAt: p.SentAt}, err
}

func (w *enrichment) author(ctx context.Context, p Posted) (string, error) {
	if p.Ours {
		return "you", nil
	}
	who, err := w.who(ctx, p.Sender)
	return cmp.Or(who.Name, p.Name, p.Sender), err
}

func (w *enrichment) withNames(ctx context.Context, text string) (string, error) {
	namer, ok := w.platform.(Namer)
	if !ok {
		return text, nil
	}
	text, err := namer.WithNames(ctx, text)
	return text, w.lacking(theNames, err)
}

func (w *enrichment) who(ctx context.Context, id string) (Profile, error) {
	directory, ok := w.platform.(Directory)
	if !ok {
		return Profile{}, nil
	}
	who, err := directory.Who(ctx, id)
	return who, w.lacking(theNames, err)
}

// lacking notes what cannot be had until somebody changes something. It returns the
// errors that another attempt may cure.
func (w *enrichment) lacking(what string, err error) error {
	if err == nil {
		return nil
	}
	if why, ok := errors.AsType[Unavailable](err); ok {
		err = why
	} else if failed := remote.As(err); failed == nil || !failed.Permanent() {
		return err
	}
	w.note(what + ": " + err.Error())
	return nil
}

func (w *enrichment) note(text string) {
	if !w.noted[text] {
		w.noted[text] = true
		w.out.Notes = append(w.out.Notes, text)
	}
}
