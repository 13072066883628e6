package http

import (
	"context"
	"errors"
	nethttp "net/http"

	"github.com/holdfast-ai/holdfast/internal/health"
)

func (a *api) handler() nethttp.Handler {
	mux := nethttp.NewServeMux()
	route := func(method, path string, guard func(handlerFunc) handlerFunc, h handlerFunc) {
		mux.Handle(method+" "+path, a.serve(guard(h)))
		mux.Handle(path, a.serve(guard(wrongMethod(method))))
	}
	route("GET", "/healthz", a.public, a.health)
	route("GET", "/readyz", a.public, a.ready)
	route("POST", "/v1/messages", a.private, a.postMessage)
	route("GET", "/v1/messages/{id}", a.private, a.getMessage)
	route("GET", "/v1/messages/{id}/events", a.private, a.getEvents)
	route("GET", "/v1/sessions/{path...}", a.private, a.getSession)
	route("POST", "/v1/chat/completions", a.private, a.postChat)
	route("GET", "/v1/models", a.private, a.getModels)
	for path, page := range a.options.Pages {
		mux.Handle(path, a.serve(a.private(func(w nethttp.ResponseWriter, r *nethttp.Request) error {
			page.ServeHTTP(w, r)
			return nil
		})))
	}
	mux.Handle("/", a.serve(a.private(unknownPath)))
	return mux
}

// serve logs the error of a handler and writes it as JSON.
func (a *api) serve(h handlerFunc) nethttp.HandlerFunc {
	return func(w nethttp.ResponseWriter, r *nethttp.Request) {
		err := h(w, r)
		if err == nil {
			return
		}
		shown := asAPIError(err)
		switch {
		case shown.detail.Type == typeUnavailable && !errors.Is(err, context.Canceled):
			a.log.ErrorContext(r.Context(), "request not served", "path", r.URL.Path, "err", err)
			w.Header().Set("Retry-After", "1")
		case shown.detail.Type == typeAuthentication || shown.detail.Type == typePermission:
			a.log.WarnContext(r.Context(), "request refused", "path", r.URL.Path, "remote", r.RemoteAddr, "err", err)
		}
		writeJSON(w, shown.status, ErrorBody{Error: shown.detail})
	}
}

func unknownPath(_ nethttp.ResponseWriter, r *nethttp.Request) error {
	return notFound(r.URL.Path + " not found: send messages with POST /v1/messages")
}

func wrongMethod(right string) handlerFunc {
	return func(w nethttp.ResponseWriter, r *nethttp.Request) error {
		w.Header().Set("Allow", right)
		return newError(nethttp.StatusMethodNotAllowed, typeInvalid, "", "use "+right+" here, not "+r.Method)
	}
}

func (a *api) health(w nethttp.ResponseWriter, _ *nethttp.Request) error {
	writeJSON(w, nethttp.StatusOK, Health{Status: "ok", Version: a.options.Version})
	return nil
}

func (a *api) ready(w nethttp.ResponseWriter, r *nethttp.Request) error {
	report := health.Report{Status: health.OK}
	if a.options.Check != nil {
		report = a.options.Check(r.Context())
	}
	report.Write(w)
	return nil
}
