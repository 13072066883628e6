package http

import (
	nethttp "net/http"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// getSession parses the rest of the path itself, since a session key may contain
// slashes.
func (a *api) getSession(w nethttp.ResponseWriter, r *nethttp.Request) error {
	path := r.PathValue("path")
	if key, ok := strings.CutSuffix(path, "/messages"); ok && key != "" && a.sessions != nil {
		return a.getTranscript(w, r, key)
	}
	if key, ok := strings.CutSuffix(path, "/background"); ok && key != "" && a.sessions != nil {
		return a.getBackground(w, r, key)
	}
	return notFound(r.URL.Path + " not found: a transcript is at /v1/sessions/KEY/messages, with a key like http:main")
}

func (a *api) getTranscript(w nethttp.ResponseWriter, r *nethttp.Request, key string) error {
	messages, err := a.sessions.Transcript(r.Context(), key)
	if err != nil {
		return err
	}
	writeJSON(w, nethttp.StatusOK, Transcript{Session: key, Messages: append([]domain.Message{}, messages...)}) // not null
	return nil
}

func (a *api) getBackground(w nethttp.ResponseWriter, r *nethttp.Request, key string) error {
	var after time.Time
	if text := r.URL.Query().Get("after"); text != "" {
		var err error
		if after, err = time.Parse(time.RFC3339, text); err != nil {
			return invalid("after", "after must be a time such as 2026-03-04T15:30:00Z: the ended_at of the last reply you have")
		}
	}
	replies, err := a.sessions.Background(r.Context(), key, after)
	if err != nil {
		return err
	}
	writeJSON(w, nethttp.StatusOK, Background{Session: key, Replies: append([]domain.BackgroundReply{}, replies...)}) // not null
	return nil
}
