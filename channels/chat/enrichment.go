package chat

import (
	"errors"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// Enricher adds data to a message that was not delivered with it. Workers run it.
type Enricher struct {
	platform Platform
	o        EnricherOptions
}

// NewEnricher returns the enricher of a platform.
func NewEnricher(p Platform, o EnricherOptions) *Enricher { return &Enricher{p, o} }

// enrichment is one attempt to enrich a message.
type enrichment struct {
	*Enricher
	channels.Enrichment
	out   channels.Enriched
	noted map[string]bool
}

// lacking notes what is unavailable until someone changes something. It returns errors
// that another attempt may not meet.
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
