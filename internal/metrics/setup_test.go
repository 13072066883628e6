package metrics_test

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/metrics"
	"github.com/holdfast-ai/holdfast/internal/metrics/metricstest"
)

// series are the values of the series whose names begin like that, by name and labels.
func series(t *testing.T, m *metrics.Metrics, prefix string) map[string]float64 {
	t.Helper()
	return metricstest.Values(t, metricstest.Text(t, m), prefix)
}

// requireLint checks that names and help texts are as Prometheus wants them.
func requireLint(t *testing.T, m *metrics.Metrics) {
	t.Helper()
	problems, err := promlint.New(strings.NewReader(metricstest.Text(t, m))).Lint()
	require.NoError(t, err)
	require.Empty(t, problems)
}
