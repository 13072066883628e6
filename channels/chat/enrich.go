package chat

import (
	"cmp"
	"context"
	"slices"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/text"
)

const (
	maxEarlier   = 50   // earlier messages
	earlierLimit = 4000 // characters of one
	theNames     = "the names of people and channels"
	theThread    = "what was said in this thread before"
	theMembers   = "who may use the bot"
)

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

func (w *enrichment) text(ctx context.Context) (err error) {
	w.out.Text, err = w.withNames(ctx, w.Message.Text)
	return err
}

func (w *enrichment) sender(ctx context.Context) error {
	who, err := w.who(ctx, w.Message.Sender)
	w.out.SenderName, w.out.Zone = cmp.Or(who.Name, w.Message.SenderName), who.Zone
	return err
}

// before adds the thread's messages that the session has not seen: all of them if the
// message is the session's first, otherwise those that were not addressed to us.
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

// seesAll reports whether an existing session receives all messages of its thread.
func (w *enrichment) seesAll() bool {
	chats, ok := w.platform.(Directs)
	return respondIn(w.o.RespondIn, w.Message.Chat, w.o.Respond) != RespondMention || ok && chats.IsDirect(w.Message.Chat)
}

// isNews reports whether a message of the thread is new to the session. Our own messages
// are not, unless we began the thread and the session is new.
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
	said, err := w.withNames(ctx, p.Text)
	if err != nil {
		return channels.Earlier{}, err
	}
	var files []string
	for _, f := range p.Files {
		files = append(files, f.Name)
	}
	name, err := w.author(ctx, p)
	if err != nil {
		return channels.Earlier{}, err
	}
	admitted, err := w.admits(ctx, p)
	return channels.Earlier{
		Name: name, Stranger: !admitted, Text: text.CutRunes(said, earlierLimit), Files: files, SentAt: p.SentAt,
	}, err
}

// admits reports whether the author of an earlier message may give us tasks.
func (w *enrichment) admits(ctx context.Context, p Posted) (bool, error) {
	switch {
	case p.Ours, slices.Contains(w.o.Bots, p.Sender):
		return true, nil
	case p.Bot:
		return false, nil
	}
	included, err := w.o.includesPerson(ctx, w.platform, p.Sender)
	if err := w.lacking(theMembers, err); err != nil || included || w.Paired == nil {
		return included, err
	}
	return w.Paired(ctx, p.Sender)
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
