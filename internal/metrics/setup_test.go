package metrics_test

import (
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/metrics"
)

// scrape reads all that m counts, as Prometheus does.
func scrape(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	server, err := m.Serve(t.Context(), "127.0.0.1:0", slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer server.Close()
	response, err := http.Get(server.URL())
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return string(body)
}

// series are the values of the series whose names begin like that, by name and labels.
func series(t *testing.T, m *metrics.Metrics, prefix string) map[string]float64 {
	t.Helper()
	all := map[string]float64{}
	for line := range strings.Lines(scrape(t, m)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		number, err := strconv.ParseFloat(value, 64)
		require.NoError(t, err, line)
		all[name] = number
	}
	return all
}

// requireLint checks that names and help texts are as Prometheus wants them.
func requireLint(t *testing.T, m *metrics.Metrics) {
	t.Helper()
	problems, err := promlint.New(strings.NewReader(scrape(t, m))).Lint()
	require.NoError(t, err)
	require.Empty(t, problems)
}
