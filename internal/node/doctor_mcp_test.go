package node_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDoctorFindsDeadServersAndFallbacks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "config.yaml", `
model: demo
tools: {mcp: {servers: {gone: {command: /no/such/program}}}}
fallbacks: [dead/x]
providers: {dead: {kind: openai, base_url: "http://127.0.0.1:9/v1", api_key: x}}
`)
	out, failed := examine(t, []string{"HOLDFAST_HOME=" + dir, "HOME=" + dir})
	require.True(t, failed, out)
	require.Contains(t, out, "fail  mcp         gone lists no tools within 3 seconds")
	require.Contains(t, out, "/no/such/program")
	require.Contains(t, out, "fix: check tools.mcp.servers.gone")
	require.Contains(t, out, "fallback    dead/x")
	require.Contains(t, out, "fix: check providers.dead.base_url")
}
