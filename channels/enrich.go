package channels

import (
	"context"
	"io"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// Enricher is a channel that looks up names, attachments and earlier messages of the thread
// when a turn consumes a message, so that accepting the message does not wait for the
// platform.
type Enricher interface {
	// Enrich makes one attempt. Failed calls are remote.Errors and are retried; permanent
	// failures are described in Notes instead. Safe for concurrent use.
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
	// Paired reports whether a sender was admitted by pairing.
	Paired func(ctx context.Context, sender string) (bool, error)
}

// Enriched is the result of [Enricher].
type Enriched struct {
	Text       string    // the message as the model should read it
	SenderName string    // empty: unknown
	Zone       string    // IANA name of the sender's time zone; empty: unknown
	Before     []Earlier // messages of the thread that are not in the session, oldest first
	Files      []domain.SavedFile
	Said       map[string]string // in audio files, by their names; the agent fills it in
	Notes      []string          // what is missing and why, for the model: "report.pdf (30 MB) is larger than 20 MB"
}

// Earlier is an earlier message of a thread.
type Earlier struct {
	Name     string // of the author
	Stranger bool   // the author is not answered
	Text     string
	Files    []string // names of attachments, which are not saved
	SentAt   time.Time
}
