//go:build linux

package memory

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLocalLock(t *testing.T) {
	t.Parallel()
	const mounts = `22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
30 22 0:40 / /shared rw,relatime - nfs4 server:/shared rw,vers=4.2,local_lock=none
31 30 0:41 / /shared/old rw,relatime - nfs server:/old rw,vers=3,nolock,local_lock=all
`
	for folder, local := range map[string]bool{"/home/ana": false, "/shared/workspace": false, "/shared/older": false, "/shared/old/workspace": true} {
		err := localLock(strings.NewReader(mounts), folder)
		if local {
			require.ErrorIs(t, err, ErrLocalLock, folder)
		} else {
			require.NoError(t, err, folder)
		}
	}
}
