package channels

import (
	"context"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
)

// Presenter is a [Sender] that shows a turn in its chat while it runs: as a draft of the
// reply, and by a status or a reaction. What cannot be shown is logged; showing never
// fails a turn or holds it up.
type Presenter interface {
	// Present begins to show a turn, or continues. Each call is paired with one of Pause.
	Present(t PresentedTurn)
	// Show takes an event of a turn that is presented; others are ignored. It never blocks.
	Show(turn string, e event.Event)
	// Pause ends what Present began, as the turn may continue in another process. It waits
	// a moment at most for a call to the platform that is under way.
	Pause(ctx context.Context, turn string)
	// Conclude shows that a turn has ended, after its reply was delivered if it has one
	// (replied). It does not block.
	Conclude(t PresentedTurn, failed, replied bool)
	// Discard removes a draft that no reply will take over. It makes one attempt; a missing
	// draft is not an error.
	Discard(ctx context.Context, d domain.Draft) error
	// Wait waits until what Conclude began is done, or ctx ends.
	Wait(ctx context.Context)
}

// PresentedTurn is a turn as a [Presenter] shows it.
type PresentedTurn struct {
	ID       string
	Reply    string           // the outbox ID that its reply has
	Messages []domain.Inbound // that it answers, the one that began it first
	Text     string           // of its running step so far, where the step began elsewhere
	Resumed  bool             // it did not begin just now: something may be shown already
	Drafts   Drafts
}

// Drafts keeps track of drafts, so that a turn has one at most and no crash leaves one
// behind.
type Drafts interface {
	// ClaimDraft is called before a draft is posted. It reports false if none may be: the
	// turn has one already, or has ended.
	ClaimDraft(ctx context.Context, turn string) (bool, error)
	// Draft returns the turn's draft, or an error without one.
	Draft(ctx context.Context, turn string) (domain.Draft, error)
	// PostedDraft records where the draft is. It reports false if the reply went out
	// without it in the meantime: the caller removes it.
	PostedDraft(ctx context.Context, turn, platformID string) (bool, error)
	// DropDraft forgets the turn's draft, which is not there.
	DropDraft(ctx context.Context, turn string) error
}

// Questioner is a [Sender] that shows what became of a question.
type Questioner interface {
	// CloseQuestion replaces the buttons of a question that was sent, as its PlatformID, by an
	// outcome in words. It reports whether it did.
	CloseQuestion(ctx context.Context, question domain.Outbound, outcome string) (bool, error)
	// TellSender tells the sender of a message something, unseen by others where it can.
	TellSender(ctx context.Context, to domain.Inbound, text string) error
}
