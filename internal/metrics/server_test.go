package metrics_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/health"
	"github.com/holdfast-ai/holdfast/internal/metrics"
)

func TestServe(t *testing.T) {
	t.Parallel()
	m := metrics.New("v1")
	log := slog.New(slog.DiscardHandler)
	unavailable := func(context.Context) health.Report { return health.Report{Status: health.Unavailable} }
	server, err := m.Serve(t.Context(), "127.0.0.1:0", unavailable, log)
	require.NoError(t, err)
	defer server.Close()
	at, err := url.Parse(server.URL())
	require.NoError(t, err)

	_, err = m.Serve(t.Context(), at.Host, nil, log)
	require.ErrorContains(t, err, at.Host)
	require.ErrorContains(t, err, "address already in use")

	response, err := http.Get("http://" + at.Host + "/")
	require.NoError(t, err)
	response.Body.Close()
	require.Equal(t, http.StatusNotFound, response.StatusCode)
	response, err = http.Post(server.URL(), "text/plain", nil)
	require.NoError(t, err)
	response.Body.Close()
	require.Equal(t, http.StatusMethodNotAllowed, response.StatusCode)

	for path, status := range map[string]int{"/healthz": http.StatusOK, "/readyz": http.StatusServiceUnavailable} {
		response, err = http.Get("http://" + at.Host + path)
		require.NoError(t, err)
		response.Body.Close()
		require.Equal(t, status, response.StatusCode, path)
	}

	server.Close()
	again, err := m.Serve(t.Context(), at.Host, nil, log)
	require.NoError(t, err, "the port is free again")
	again.Close()
}
