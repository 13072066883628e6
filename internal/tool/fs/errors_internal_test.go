package fs

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/tool"
)

// These conditions cannot be produced without control of the machine.
func TestSystemErrorsAreExplained(t *testing.T) {
	t.Parallel()
	tests := []struct {
		errno syscall.Errno
		says  string
		retry bool
	}{
		{syscall.ENOSPC, "disk or quota is full", false},
		{syscall.EDQUOT, "disk or quota is full", false},
		{syscall.EROFS, "file system is read-only", false},
		{syscall.EACCES, "permission denied", false},
		{syscall.EIO, "a.txt: input/output error", false},
		{syscall.EMFILE, "too many open files", true},
	}
	for _, tt := range tests {
		t.Run(tt.says, func(t *testing.T) {
			t.Parallel()
			for _, err := range []error{
				&fs.PathError{Op: "openat", Path: "a.txt", Err: tt.errno},
				&os.LinkError{Op: "renameat", Old: "t", New: "a.txt", Err: tt.errno},
			} {
				explained := explain("a.txt", err)
				require.ErrorContains(t, explained, tt.says)
				require.Equal(t, tt.retry, errors.Is(explained, tool.ErrRetry))
			}
		})
	}
}
