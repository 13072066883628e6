package openai_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/llm/openai"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// transcriber is a client of a service that handles transcriptions with handler.
func transcriber(t *testing.T, handler http.HandlerFunc) *openai.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	c, err := openai.New(openai.Options{Service: "transcription", BaseURL: server.URL + "/v1", Setting: "tools.transcription.base_url", APIKey: "secret-key"})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func TestTranscribe(t *testing.T) {
	t.Parallel()

	t.Run("sends the file and returns what is said", func(t *testing.T) {
		t.Parallel()
		c := transcriber(t, func(w http.ResponseWriter, r *http.Request) {
			file, header, err := r.FormFile("file")
			if err != nil || r.URL.Path != "/v1/audio/transcriptions" || r.Header.Get("Authorization") != "Bearer secret-key" {
				http.Error(w, "unexpected request", http.StatusBadRequest)
				return
			}
			content, _ := io.ReadAll(file)
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"text":" `+r.FormValue("model")+` heard `+string(content)+` in `+header.Filename+` "}`)
		})
		said, err := c.Transcribe(t.Context(), "whisper-large-v3", "voice.ogg", []byte("noise"))
		require.NoError(t, err)
		require.Equal(t, "whisper-large-v3 heard noise in voice.ogg", said)
	})

	t.Run("fails as other calls do", func(t *testing.T) {
		t.Parallel()
		c := transcriber(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = io.WriteString(w, `{"error":{"message":"slow down, secret-key"}}`)
		})
		_, err := c.Transcribe(t.Context(), "m", "voice.ogg", []byte("noise"))
		failed := remote.As(err)
		require.NotNil(t, failed, "%v", err)
		require.Equal(t, http.StatusTooManyRequests, failed.Status)
		require.Equal(t, 7*time.Second, failed.RetryAfter)
		require.NotContains(t, err.Error(), "secret-key")
	})

	t.Run("names the setting of a service that is away", func(t *testing.T) {
		t.Parallel()
		c, err := openai.New(openai.Options{Service: "transcription", BaseURL: "http://127.0.0.1:1/v1", Setting: "tools.transcription.base_url"})
		require.NoError(t, err)
		_, err = c.Transcribe(t.Context(), "m", "voice.ogg", []byte("noise"))
		require.ErrorContains(t, err, "the network, and tools.transcription.base_url")
		require.False(t, remote.As(err).Permanent())
	})
}
