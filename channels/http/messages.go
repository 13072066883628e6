package http

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	nethttp "net/http"
	"slices"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
)

func (a *api) postMessage(w nethttp.ResponseWriter, r *nethttp.Request) error {
	var request SendRequest
	if err := a.decode(w, r, &request, true); err != nil {
		return err
	}
	msg := domain.Inbound{
		Channel: Name, PlatformID: cmp.Or(request.ID, rand.Text()), Chat: request.Session, Sender: request.Sender, Text: request.Text,
	}
	if request.ReplyTo != "" {
		if err := a.push(&msg, request); err != nil {
			return err
		}
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
	answer, err := a.ask(ctx, msg)
	if err != nil {
		return err
	}
	state, err := answer.await(ctx, waiting{})
	if err != nil {
		return interrupted(msg.PlatformID)
	}
	writeJSON(w, nethttp.StatusOK, state)
	return nil
}

// push makes a message one whose reply is pushed to an endpoint. Its session is the
// endpoint's.
func (a *api) push(msg *domain.Inbound, request SendRequest) error {
	switch {
	case !slices.Contains(a.options.Endpoints, request.ReplyTo):
		return invalid("reply_to", fmt.Sprintf("there is no endpoint %q: add it to channels.webhook.endpoints", request.ReplyTo))
	case request.Wait:
		return invalid("wait", "wait and reply_to exclude each other: the reply is either the response or pushed")
	}
	msg.Channel, msg.Chat, msg.Thread, msg.Push = a.options.PushChannel, request.ReplyTo, request.Session, true
	return nil
}

func (a *api) getMessage(w nethttp.ResponseWriter, r *nethttp.Request) error {
	state, err := a.message(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	writeJSON(w, nethttp.StatusOK, state)
	return nil
}

// getEvents ends the stream without a "done" event if it is interrupted; the client
// then reconnects.
func (a *api) getEvents(w nethttp.ResponseWriter, r *nethttp.Request) error {
	channel, err := a.channelOf(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	answer := a.follow(ctx, channel, r.PathValue("id"))
	answer.known = true
	events := newStream(w)
	state, err := answer.await(ctx, waiting{
		on: func(e event.Event) error {
			name := string(e.Kind)
			e.Kind = "" // it is the event's name
			return events.send(name, e)
		},
		every: a.options.KeepAlive, idle: events.keepAlive,
	})
	if err == nil {
		_ = events.send(string(event.Done), state)
	}
	return nil
}
