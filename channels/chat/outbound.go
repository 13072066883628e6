package chat

import "log/slog"

// OutboundOptions are the settings of an [Outbound].
type OutboundOptions struct {
	Drafts bool // turns are shown as drafts while they run
	Logger *slog.Logger
}

// Outbound writes to a platform: it implements [channels.Sender], [channels.Finder],
// [channels.Keyed], [channels.Placeholders], [channels.Splitter], [channels.Presenter] and
// [channels.Questioner]. Safe for concurrent use.
type Outbound struct {
	*output

	// Guarded by the mutex of output.
	turns      map[string]*turn         // by ID
	concluding map[string]chan struct{} // by conversation: closed when its last turn's indications are done
}

// NewOutbound returns the writer of a platform.
func NewOutbound(p Writer, o OutboundOptions) *Outbound {
	return &Outbound{output: newOutput(p, o.Drafts, o.Logger), turns: map[string]*turn{}, concluding: map[string]chan struct{}{}}
}

// add begins to present a turn. The mutex is held.
func (o *Outbound) add(t *turn) { o.turns[t.id], o.presented[t.id] = t, t.presented }

// remove stops presenting a turn. The mutex is held.
func (o *Outbound) remove(id string) {
	delete(o.turns, id)
	delete(o.presented, id)
}

// withDraft returns the turn of this process that has the draft; nil if none. The mutex is
// held.
func (o *Outbound) withDraft(chat, id string) *turn {
	for _, t := range o.turns {
		if t.hasDraft(chat, id) {
			return t
		}
	}
	return nil
}
