package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestRollout replaces the workers and starters of a cluster by another build, one at a time,
// and then by the first build again, while 50 turns are in the middle of a step: they wait
// for the model, for an approval, or for a command. Each is answered once and asks once. It
// checks what [TestChaos] checks, and runs with it.
func TestRollout(t *testing.T) {
	if chaosFlags.faults == 0 {
		t.Skip("run it with make chaos")
	}
	const held, asking, running = 20, 15, 15
	old, err := buildBinary("v1.0.0")
	require.NoError(t, err)
	upgrade, err := buildBinary("v1.1.0")
	require.NoError(t, err)
	decided := make(chan struct{})
	c := &chaosRound{limit: giveUp, binary: old}
	c.load.decides = decided
	c.open(t, severalMachines)
	defer c.report(t)
	c.model.hold()

	var conversing sync.WaitGroup
	send := func(kind chaosKind, n int, work time.Duration) {
		for i := range n {
			name := fmt.Sprintf("%s-%d", kind, i)
			conversing.Go(func() {
				c.load.converse(t.Context(), []chaosMessage{{name: name, session: name, kind: kind, work: work}})
			})
		}
	}
	send(kindHold, held, 0)
	send(kindAsk, asking, time.Second)
	send(kindRun, running, 25*time.Second)
	require.Eventually(t, func() bool {
		effects, _ := os.ReadFile(filepath.Join(c.stack.workspace, effectsFile)) // there may be none yet
		return c.load.asked.Load() == asking && strings.Count(string(effects), "begin") == running && c.model.Count() >= held+asking+running
	}, patience, lookInterval)

	c.replace(t, upgrade, "v1.1.0")
	send(kindFile, 5, 0)
	c.replace(t, old, "v1.0.0")
	close(decided)
	c.model.repair()
	conversing.Wait()
	c.check(t)
}

// replace stops the members one after another and starts each with another build.
func (c *chaosRound) replace(t *testing.T, binary, version string) {
	t.Helper()
	for _, m := range c.stack.members {
		took := m.terminate(t)
		m.binary = binary
		m.restart(t)
		t.Logf("%s: %s ended after %s", version, m.role, seconds(took))
	}
	for _, api := range c.load.apis {
		ctx, cancel := context.WithTimeout(t.Context(), callLimit)
		health, err := api.Health(ctx)
		cancel()
		require.NoError(t, err)
		require.Equal(t, version, health.Version)
	}
}
