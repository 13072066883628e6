// Package metricstest reads metrics as Prometheus does.
package metricstest

import (
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/metrics"
)

// Text returns the metrics that m serves.
func Text(t testing.TB, m *metrics.Metrics) string {
	t.Helper()
	server, err := m.Serve(t.Context(), "127.0.0.1:0", nil, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer server.Close()
	return Scrape(t, server.URL())
}

// Scrape returns the metrics at a URL.
func Scrape(t require.TestingT, url string) string {
	response, err := http.Get(url) //nolint:noctx // the test's own server answers at once
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return string(body)
}

// Values are the values in a text of all series whose names begin with prefix, by
// name and labels.
func Values(t require.TestingT, text, prefix string) map[string]float64 {
	values := map[string]float64{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !strings.HasPrefix(name, prefix) || strings.HasPrefix(name, "#") {
			continue
		}
		number, err := strconv.ParseFloat(value, 64)
		require.NoError(t, err, line)
		values[name] = number
	}
	return values
}
