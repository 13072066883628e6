package command

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/http/client"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/dispatch"
	"github.com/holdfast-ai/holdfast/internal/doctor"
	"github.com/holdfast-ai/holdfast/internal/engine"
	"github.com/holdfast-ai/holdfast/internal/health"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/node"
	"github.com/holdfast-ai/holdfast/internal/store/storetest"
)

// TestUpAcceptsBeforeItHasRecovered kills the real program with eight commands and eight
// model calls running: its successor accepts at once, and recovers beside.
func TestUpAcceptsBeforeItHasRecovered(t *testing.T) {
	t.Parallel()
	const each = 8
	model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
		switch text := r.LastUser(); {
		case strings.HasPrefix(text, "think"):
			return llmtest.Hang()
		case strings.HasPrefix(text, "run") && len(resultsOfTurn(r)) == 0:
			return llmtest.Calls(llmtest.Call{Name: "exec", Arguments: `{"command":"echo ran >> effects.txt; until [ -e release ]; do sleep 0.2; done","timeout":90}`})
		default:
			return llmtest.Text("done")
		}
	})
	h := newHome(t, model.URL)
	address := freeAddress(t)
	h.environ = append(h.environ, "HOLDFAST_CHANNELS_HTTP_LISTEN="+address)
	first := h.start(t)
	for i := range each {
		for _, what := range []string{"think", "run"} {
			_, err := first.api().Send(t.Context(), fmt.Sprint(what, i), fmt.Sprint(what, i), what)
			require.NoError(t, err)
		}
	}
	require.Eventually(t, func() bool { return h.effects() == each && model.Count() == 2*each }, patience, 10*time.Millisecond)
	first.kill()
	before := model.Count()

	api := client.New("http://"+address, "")
	path, err := binary()
	require.NoError(t, err)
	second := exec.Command(path, "up")
	second.Env, second.Stderr = h.environ, t.Output()
	began := time.Now()
	require.NoError(t, second.Start())
	t.Cleanup(func() { _ = second.Process.Kill(); _ = second.Wait() })
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for ctx.Err() == nil {
		if _, err = api.Send(ctx, "new", "new", "hello"); err == nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	require.NoError(t, err)
	accepted := time.Since(began)
	_, report := probe(t, "http://"+address+"/readyz")
	require.Equal(t, health.Degraded, report.Status, "it accepted before it had recovered")
	require.NoError(t, model.Await(ctx, before+1))
	moving := time.Since(began)
	_, err = api.Follow(ctx, "new", nil)
	require.NoError(t, err)
	answered := time.Since(began)
	require.NoError(t, model.Await(ctx, before+each+1))
	t.Logf("accepted after %v, moving after %v, new message answered after %v, all moving after %v", accepted, moving, answered, time.Since(began))
	require.Less(t, accepted, 3*time.Second, "0.2 s on a machine that does nothing else")
	require.Less(t, moving, 10*time.Second, "0.5 s on a machine that does nothing else")
	require.Equal(t, each, h.effects())
	write(t, h.dir, "workspace/release", "")
	for i := range each {
		_, err := api.Follow(ctx, fmt.Sprint("run", i), nil)
		require.NoError(t, err)
	}
}

// effects counts the lines of effects.txt.
func (h *home) effects() int {
	content, _ := os.ReadFile(h.workspace("effects.txt"))
	return strings.Count(string(content), "\n")
}

// TestTemporalIsAwayAtTheStart starts a starter and a worker before their Temporal: the
// starter accepts, both say what is missing, and the message is answered once Temporal is
// there.
func TestTemporalIsAwayAtTheStart(t *testing.T) {
	t.Parallel()
	dsn, address := config.Secret(storetest.Postgres(t)), freeAddress(t)
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	part := func(r node.Roles) (*testNode, <-chan struct{}, *display) {
		cfg := chatHome(t, echo(t).URL)
		cfg.Store.DSN, cfg.Temporal.Address, cfg.Metrics.Listen, cfg.Channels.HTTP.Listen = dsn, address, "127.0.0.1:0", "127.0.0.1:0"
		log := &display{}
		n, ready, _ := runOn(t, cfg, r, slog.New(slog.NewTextHandler(log, nil)))
		return n, ready, log
	}
	starter, starting, _ := part(node.Roles{Starter: true})
	worker, working, log := part(node.Roles{Worker: true})

	id := starter.send(t, "main", "", "hello")
	status, report := probe(t, starter.APIURL()+"/readyz")
	require.Equal(t, http.StatusOK, status, "it accepts")
	require.Equal(t, health.Degraded, report.Status)
	require.Equal(t, "ok", report.Parts["store"])
	require.Contains(t, report.Parts["temporal"], "temporal.address")
	probes := strings.TrimSuffix(worker.MetricsURL(), "/metrics")
	status, report = probe(t, probes+"/readyz")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Equal(t, health.Unavailable, report.Status)
	status, _ = probe(t, probes+"/healthz")
	require.Equal(t, http.StatusOK, status)
	require.Eventually(t, func() bool {
		return strings.Contains(log.String(), "level=WARN msg=\"no answer from Temporal, retrying")
	}, patience, 10*time.Millisecond)
	require.Contains(t, log.String(), "address="+address)
	require.Contains(t, log.String(), "check temporal.address")

	var findings []string
	doctor.Run(t.Context(), []string{
		"HOME=" + t.TempDir(), "HOLDFAST_MODEL=demo", "HOLDFAST_CHANNELS_HTTP_LISTEN=" + strings.TrimPrefix(starter.APIURL(), "http://"),
		"HOLDFAST_METRICS_LISTEN=" + strings.TrimPrefix(probes, "http://"),
	}, func(f doctor.Finding) { findings = append(findings, f.Text) })
	require.Contains(t, strings.Join(findings, "\n"), "is degraded: its temporal does not answer")
	require.Contains(t, strings.Join(findings, "\n"), "is unavailable: its temporal does not answer")

	number, err := strconv.Atoi(port)
	require.NoError(t, err)
	server, err := engine.Start(t.Context(), engine.Options{
		DataDir: t.TempDir(), Port: number, UIPort: -1, Durability: "normal", SearchAttributes: dispatch.SearchAttributes(),
	})
	require.NoError(t, err)
	t.Cleanup(server.Stop)
	back := time.Now()
	require.Equal(t, "echo 1", starter.await(t, id).Text)
	t.Logf("answered %v after Temporal was back", time.Since(back))
	<-starting
	<-working
	require.Eventually(t, func() bool { // a report holds for a second
		status, report = probe(t, probes+"/readyz")
		return status == http.StatusOK && report.Status == health.OK
	}, patience, 50*time.Millisecond)
}

// probe returns the answer to a probe.
func probe(t *testing.T, url string) (int, health.Report) {
	t.Helper()
	response, err := http.Get(url)
	require.NoError(t, err)
	defer response.Body.Close()
	var report health.Report
	require.NoError(t, json.NewDecoder(response.Body).Decode(&report))
	return response.StatusCode, report
}
