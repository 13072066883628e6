package mcp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestToolName(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 80)
	tests := []struct{ name, server, tool, want string }{
		{"plain", "files", "read-it_2", "^mcp_files_read-it_2$"},
		{"other characters", "my files", "read.it", "^mcp_my_files_read_it_[0-9a-f]{8}$"},
		{"another alphabet", "files", "читать", "^mcp_files_[_]+_[0-9a-f]{8}$"},
		{"a long tool", "files", long, "^mcp_files_x{45}_[0-9a-f]{8}$"},
		{"a long server", long, "read", "^mcp_x{51}_[0-9a-f]{8}$"},
		{"just fits", "files", strings.Repeat("x", 54), "^mcp_files_x{54}$"},
		{"one that a server could have", "files", "b_read", "^mcp_files_b_read_[0-9a-f]{8}$"},
		{"of that server", "files_b", "read", "^mcp_files_b_read$"},
	}
	servers := []string{"files", "files_b", "my files", "files.b", long}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			name := toolName(tt.server, tt.tool, servers)
			require.Regexp(t, tt.want, name)
			require.Regexp(t, `^[a-zA-Z0-9_-]{1,64}$`, name)
			require.True(t, strings.HasPrefix(name, prefix(tt.server)))
		})
	}
	require.NotEqual(t, toolName("a", "é", nil), toolName("a", "è", nil))
}
