package channels

import (
	"context"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
)

// Presenter is a [Sender] that shows a turn in its chat while it runs: as a draft of the
// reply, and by a status or a reaction. Errors are logged and neither fail nor delay the
// turn.
type Presenter interface {
	// Present starts or resumes showing a turn. Each call is paired with one of Pause.
	Present(t PresentedTurn)
	// Show shows an event of a presented turn and ignores other turns. It does not block.
	Show(turn string, e event.Event)
	// Pause undoes Present: the turn may continue in another process. It waits briefly for
	// a pending call to the platform.
	Pause(ctx context.Context, turn string)
	// Conclude shows that a turn has ended; replied reports whether its reply was delivered.
	// It does not block.
	Conclude(t PresentedTurn, failed, replied bool)
	// Discard removes a draft that no reply will take over. It makes one attempt; a missing
	// draft is not an error.
	Discard(ctx context.Context, d domain.Draft) error
	// Wait blocks until all calls of Conclude have taken effect, or ctx ends.
	Wait(ctx context.Context)
}

// Keeper is a [Presenter] that can leave in the chat what the draft of a stopped turn shows.
type Keeper interface {
	// Keep ends a draft that no reply will take over. What was written of the reply stays, with
	// a note; kept is false if nothing was. It makes one attempt and may be repeated.
	Keep(ctx context.Context, d domain.Draft, note string) (kept bool, err error)
}

// PresentedTurn is a turn as a [Presenter] shows it.
type PresentedTurn struct {
	ID       string
	Reply    string           // outbox ID of its reply
	Messages []domain.Inbound // that it answers; the first one started it
	Text     string           // of its running step so far, if the step began in another process
	Resumed  bool             // it may be shown already
	Drafts   Drafts
}

// Drafts records drafts durably: a turn has at most one, and a crash leaves none behind.
type Drafts interface {
	// ClaimDraft is called before a draft is posted. It reports false if the turn has
	// a draft already or has ended.
	ClaimDraft(ctx context.Context, turn string) (bool, error)
	// Draft returns the turn's draft, or an error without one.
	Draft(ctx context.Context, turn string) (domain.Draft, error)
	// PostedDraft records the draft's platform ID. It reports false if the reply was sent
	// without the draft in the meantime: the caller then removes it.
	PostedDraft(ctx context.Context, turn, platformID string) (bool, error)
	// DropDraft deletes the record of a draft that does not exist on the platform.
	DropDraft(ctx context.Context, turn string) error
}

// Questioner is a [Sender] that shows the outcome of a question.
type Questioner interface {
	// CloseQuestion replaces the buttons of a sent question by a textual outcome and reports
	// whether it did. The question's PlatformID is set.
	CloseQuestion(ctx context.Context, question domain.Outbound, outcome string) (bool, error)
	// TellSender sends a text to the author of a message, privately where possible.
	TellSender(ctx context.Context, to domain.Inbound, text string) error
}
