package channels

import (
	"context"
	"io"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// Gatherer is a channel whose messages come without all that belongs to them: the
// names of people, attached files, what was said in the thread before. It asks its
// platform for that when a turn takes the message in, so that taking a message from
// the platform never waits for the platform.
type Gatherer interface {
	// Gather makes one attempt. Failed calls are remote.Errors and are tried again
	// for a while; what cannot be had at all is named in Notes instead. Safe for
	// concurrent use.
	Gather(ctx context.Context, g Gathering) (Gathered, error)
}

// Gathering is what a [Gatherer] is asked for.
type Gathering struct {
	Message domain.Inbound
	// Since is when the session's message before this one was sent; zero if this is
	// its first.
	Since time.Time
	// Save keeps an attached file where the agent can read it, and returns its path.
	// To save the same name again replaces it.
	Save func(name string, content io.Reader) (path string, err error)
}

// Gathered is what belongs to a message.
type Gathered struct {
	Text       string    // the message's, as the model should read it
	SenderName string    // empty: unknown
	Zone       string    // IANA name of the sender's time zone; empty: unknown
	Before     []Earlier // what others said in the thread that the session has not seen, oldest first
	Files      []domain.SavedFile
	Notes      []string // what could not be had and why, for the model: "report.pdf (30 MB) is larger than 20 MB"
}

// Earlier is something said in a thread before the agent was asked.
type Earlier struct {
	Name   string // of who said it
	Text   string
	SentAt time.Time
}
