//go:build peers

package mattermosttest_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/mattermost/mattermosttest"
)

// peersVariable names the folder that `make peers` installs the counterparts in.
const peersVariable = "HOLDFAST_PEERS"

// TestPeerMattermostClient runs a bot that uses Mattermost's own client against the server: its
// sessions, which it resumes or notices to be lost, and the calls that the channel makes.
func TestPeerMattermostClient(t *testing.T) {
	t.Parallel()
	dir := os.Getenv(peersVariable)
	require.NotEmpty(t, dir, "run this with `make peers`")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s := mattermosttest.Start(t)

	cmd := exec.CommandContext(ctx, "node", "--experimental-websocket", "testdata/bot.mjs")
	cmd.Env = append(os.Environ(), "PEERS="+dir, "MATTERMOST_URL="+s.URL(), "MATTERMOST_TOKEN="+mattermosttest.Token)
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := make(chan string, 1000)
	go func() {
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			lines <- scanner.Text()
		}
	}()
	await := func(line string) {
		for {
			select {
			case got := <-lines:
				require.False(t, strings.HasPrefix(got, "failed"), got)
				if got == line {
					return
				}
			case <-ctx.Done():
				require.FailNow(t, "not printed: "+line)
			}
		}
	}
	answered := func(text string) {
		s.Say(mattermosttest.Ana, mattermosttest.DM, text)
		await("answered " + text)
	}

	require.NoError(t, s.Await(ctx, s.Connected))
	s.Say(mattermosttest.Ana, mattermosttest.DM, "tour")
	await("done")
	answered("Grüße")
	before := len(s.Ours(mattermosttest.DM))
	s.Cut()
	answered("while it was not connected")
	_, resumed := s.Sessions()
	require.Equal(t, 1, resumed)
	s.Restart()
	await("missed")
	answered("in another session")
	require.Len(t, s.Ours(mattermosttest.DM), before+2, "keys are recognized")
}
