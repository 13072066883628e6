package http

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	nethttp "net/http"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

const (
	defaultSession = "main"
	// DefaultSender is the sender of messages that do not name one.
	DefaultSender = "http"
	acceptTimeout = 30 * time.Second
)

// api handles the requests.
type api struct {
	options Options
	log     *slog.Logger
	backend channels.Backend
	// sessions is nil if the backend does not read sessions.
	sessions channels.Sessions
}

func newAPI(o Options, log *slog.Logger, b channels.Backend) *api {
	sessions, _ := b.(channels.Sessions)
	return &api{options: o, log: log, backend: b, sessions: sessions}
}

func (a *api) handler() nethttp.Handler {
	mux := nethttp.NewServeMux()
	route := func(method, path string, guard func(handlerFunc) handlerFunc, h handlerFunc) {
		mux.Handle(method+" "+path, a.serve(guard(h)))
		mux.Handle(path, a.serve(guard(wrongMethod(method))))
	}
	route("GET", "/healthz", a.public, a.health)
	route("POST", "/v1/messages", a.private, a.postMessage)
	route("GET", "/v1/messages/{id}", a.private, a.getMessage)
	route("GET", "/v1/messages/{id}/events", a.private, a.getEvents)
	route("GET", "/v1/sessions/{path...}", a.private, a.getSession)
	route("POST", "/v1/chat/completions", a.private, a.postChat)
	route("GET", "/v1/models", a.private, a.getModels)
	mux.Handle("/", a.serve(a.private(unknownPath)))
	return mux
}

func unknownPath(_ nethttp.ResponseWriter, r *nethttp.Request) error {
	return notFound(r.URL.Path + " not found: send messages with POST /v1/messages")
}

func wrongMethod(right string) handlerFunc {
	return func(w nethttp.ResponseWriter, r *nethttp.Request) error {
		w.Header().Set("Allow", right)
		return &apiError{status: nethttp.StatusMethodNotAllowed, detail: ErrorDetail{
			Type: typeInvalid, Message: "use " + right + " here, not " + r.Method,
		}}
	}
}

func (a *api) health(w nethttp.ResponseWriter, _ *nethttp.Request) error {
	writeJSON(w, nethttp.StatusOK, Health{Status: "ok", Version: a.options.Version})
	return nil
}

func (a *api) postMessage(w nethttp.ResponseWriter, r *nethttp.Request) error {
	var request SendRequest
	if err := a.decode(w, r, &request, true); err != nil {
		return err
	}
	msg := domain.Inbound{
		Channel: Name, PlatformID: cmp.Or(request.ID, rand.Text()), Chat: request.Session, Sender: request.Sender, Text: request.Text,
	}
	if !request.Wait {
		accepted, err := a.accept(r.Context(), msg)
		if err != nil {
			return err
		}
		writeJSON(w, nethttp.StatusAccepted, Receipt{ID: msg.PlatformID, Session: accepted.Session, WorkflowID: accepted.WorkflowID})
		return nil
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	answer := a.follow(ctx, msg.PlatformID)
	accepted, err := a.accept(ctx, msg)
	if err != nil {
		return err
	}
	state, err := answer.await(ctx, waiting{known: accepted.Duplicate})
	if err != nil {
		return interrupted(msg.PlatformID)
	}
	writeJSON(w, nethttp.StatusOK, state)
	return nil
}

// accept checks a message, fills in defaults, and passes it to the backend. It
// continues if the client disconnects or the server shuts down.
func (a *api) accept(ctx context.Context, msg domain.Inbound) (channels.Accepted, error) {
	msg.Chat, msg.Sender = cmp.Or(msg.Chat, defaultSession), cmp.Or(msg.Sender, DefaultSender)
	err := errors.Join(checkName("id", msg.PlatformID), checkName("session", msg.Chat), checkName("sender", msg.Sender), a.checkText("text", msg.Text))
	if err != nil {
		return channels.Accepted{}, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), acceptTimeout)
	defer cancel()
	return a.backend.Accept(ctx, msg)
}

func (a *api) getMessage(w nethttp.ResponseWriter, r *nethttp.Request) error {
	state, err := a.message(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	writeJSON(w, nethttp.StatusOK, state)
	return nil
}

// message returns the message that a client knows by this ID.
func (a *api) message(ctx context.Context, id string) (domain.Reply, error) {
	state, err := a.backend.Message(ctx, domain.MessageID(Name, "", id))
	state.Message = id
	return state, err
}

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
	if messages == nil {
		messages = []domain.Message{}
	}
	writeJSON(w, nethttp.StatusOK, Transcript{Session: key, Messages: messages})
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
	if replies == nil {
		replies = []domain.BackgroundReply{}
	}
	writeJSON(w, nethttp.StatusOK, Background{Session: key, Replies: replies})
	return nil
}
