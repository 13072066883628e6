package channels

import (
	"context"
	"io"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// Enricher is a channel whose messages are delivered without the names of people, the
// attached files and what was said in the thread before. It asks its platform for them
// when a turn consumes the message, so that accepting a message never waits for the
// platform.
type Enricher interface {
	// Enrich makes one attempt. Failed calls are remote.Errors and are retried for a
	// while; what cannot be had at all is named in Notes instead. Safe for concurrent use.
	Enrich(ctx context.Context, e Enrichment) (Enriched, error)
}

// Enrichment is the input of an [Enricher].
type Enrichment struct {
	Message domain.Inbound
	// Since is when the session's previous message was sent; zero if this is the first.
	Since time.Time
	// Save saves an attached file where the agent can read it, and returns its path.
	// Saving the same name again replaces the file.
	Save func(name string, content io.Reader) (path string, err error)
}

// Enriched is the result of [Enricher].
type Enriched struct {
	Text       string    // the message as the model should read it
	SenderName string    // empty: unknown
	Zone       string    // IANA name of the sender's time zone; empty: unknown
	Before     []Earlier // what others said in the thread and the session has not seen, oldest first
	Files      []domain.SavedFile
	Notes      []string // what could not be had and why, for the model: "report.pdf (30 MB) is larger than 20 MB"
}

// Earlier is something that was said in a thread before.
type Earlier struct {
	Name   string // of the author
	Text   string
	SentAt time.Time
}
