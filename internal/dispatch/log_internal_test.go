package dispatch

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/temporal"
)

func TestSDKLog(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, message string
		err           error
		want          string // part of the line; empty: no line
	}{
		{"a canceled activity", "Activity error.", temporal.NewCanceledError(), ""},
		{"a heartbeat of a canceled activity", "RecordActivityHeartbeat with error", temporal.NewCanceledError(), ""},
		{"the result of an activity whose run has ended", "Failed", serviceerror.NewNotFound("workflow execution already completed"), ""},
		{"a failure that the user is told", "Activity error.", temporal.NewNonRetryableApplicationError("wrong key", "Refused", nil), ""},
		{"a failure that is retried", "Activity error.", errors.New("store away"), `level=WARN msg="activity failed, it is retried"`},
		{"a panic in a workflow", "Workflow panic", errors.New("nil map"), `level=ERROR msg="Workflow panic"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			newLogger(slog.New(slog.NewTextHandler(&out, nil))).Error(tt.message, "Error", tt.err)
			if tt.want == "" {
				require.Empty(t, out.String())
				return
			}
			require.Contains(t, out.String(), tt.want)
			require.Contains(t, out.String(), tt.err.Error())
		})
	}
}

func TestSDKLogOfAnOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		log := newLogger(slog.New(slog.NewTextHandler(&out, nil)))
		for range 30 { // one each second
			log.Warn("Failed to poll for task.", "Error", serviceerror.NewUnavailable("connection refused"))
			time.Sleep(time.Second)
		}
		log.Warn("Failed to poll for task.", "Error", errors.New("something else"))
		require.Equal(t, 3, strings.Count(out.String(), "connection refused"))
		require.Equal(t, 1, strings.Count(out.String(), "something else"))
	})
}
