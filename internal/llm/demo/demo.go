// Package demo is an OpenAI-compatible server with a canned model, for trying
// Holdfast without an API key.
package demo

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/holdfast-ai/holdfast/internal/llm/wire"
)

// Model is the name of the demo model.
const Model = "holdfast-demo"

// Handler serves the demo model below /v1. Its answers are deterministic.
func Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		req, err := wire.ReadRequest(w, r)
		if err != nil {
			wire.WriteError(w, http.StatusBadRequest, "", err.Error())
			return
		}
		wire.Write(w, req, complete(req))
	})
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		wire.WriteModels(w, Model)
	})
	return mux
}

// Start serves the demo model on a free port of the loopback interface until ctx
// ends or stop is called. url is the base URL for a client.
func Start(ctx context.Context) (url string, stop func(), err error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("demo model: %w", err)
	}
	server := &http.Server{Handler: Handler(), ReadHeaderTimeout: 10 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener) // until closed
	}()
	end := sync.OnceFunc(func() {
		_ = server.Close()
		<-done
	})
	unhook := context.AfterFunc(ctx, end)
	return "http://" + listener.Addr().String() + "/v1", func() { unhook(); end() }, nil
}
