package command

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCommandsThatAreNone(t *testing.T) {
	t.Parallel()
	environ := []string{"HOLDFAST_HOME=" + t.TempDir()}
	for _, group := range []string{"holdfast", "sessions", "runs", "jobs", "pairing", "slack"} {
		var args []string
		name := "holdfast"
		if group != name {
			args, name = []string{group}, name+" "+group
		}
		help, err := runCommand(t, environ, args...)
		require.NoError(t, err)
		require.Contains(t, help, "Usage:")
		_, err = runCommand(t, environ, append(args, "foo")...)
		require.EqualError(t, err, `unknown command "foo" for "`+name+`"`)
	}
}

func TestFlagsThatDoNotConvert(t *testing.T) {
	t.Parallel()
	environ := []string{"HOLDFAST_HOME=" + t.TempDir()}
	for want, args := range map[string][]string{
		`invalid argument "ten" for "--limit" flag: must be a whole number`:                                    {"sessions", "list", "--limit", "ten"},
		`invalid argument "99999999999999999999" for "--limit" flag: is too large`:                             {"sessions", "list", "--limit", "99999999999999999999"},
		`invalid argument "x" for "--json" flag: must be true or false`:                                        {"sessions", "list", "--json=x"},
		`invalid argument "often" for "--every" flag: must be a duration such as 60s, 10m or 30d, not "often"`: {"jobs", "add", "-m", "x", "--every", "often"},
	} {
		_, err := runCommand(t, environ, args...)
		require.EqualError(t, err, want)
	}
	_, err := runCommand(t, environ, "jobs", "add", "-m", "x", "--every", "1d")
	require.ErrorContains(t, err, "no Temporal to connect to", "the interval is accepted")
}
