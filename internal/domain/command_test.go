package domain_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

func TestCommands(t *testing.T) {
	t.Parallel()
	seen := map[domain.Command]bool{}
	for _, spec := range domain.Commands() {
		require.False(t, seen[spec.Name], spec.Name)
		seen[spec.Name] = true
		require.NotEmpty(t, spec.Description)
		command, arguments := domain.ParseCommand("/" + strings.ToUpper(string(spec.Name)) + "\tArguments as\nthey are ")
		require.Equal(t, spec.Name, command)
		require.Equal(t, "Arguments as\nthey are", arguments)
		require.Equal(t, spec.Name != domain.CommandNew, spec.Immediate, "/new is in line with the messages")
	}
}

func TestDollars(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		microdollars int64
		unpriced     int
		want         string
	}{
		{0, 0, "$0"},
		{0, 2, "unknown"},
		{1, 0, "$0.000001"},
		{99, 0, "$0.000099"},
		{100, 0, "$0.0001"},
		{12_345, 0, "$0.0123"},
		{12_345, 1, "at least $0.0123"},
		{1_000_000, 0, "$1.0000"},
		{12_345_678, 0, "$12.35"},
		{1_234_567_890_000, 0, "$1234567.89"},
	} {
		require.Equal(t, tt.want, domain.Dollars(tt.microdollars, tt.unpriced))
	}
}
