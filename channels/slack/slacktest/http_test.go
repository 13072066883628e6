package slacktest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
)

// app serves what Slack posts, once the signature is verified by slack-go.
func app(t *testing.T, s *slacktest.Server, handle func(w http.ResponseWriter, r *http.Request, body []byte)) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || verify(r.Header, body) != nil {
			http.Error(w, "bad signature", http.StatusUnauthorized)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		handle(w, r, body)
	}))
	t.Cleanup(server.Close)
	s.ServeEvents(server.URL + "/slack/events")
}

func verify(h http.Header, body []byte) error {
	v, err := slack.NewSecretsVerifier(h, slacktest.SigningSecret)
	if err != nil {
		return err
	}
	_, _ = v.Write(body)
	return v.Ensure()
}

func TestSign(t *testing.T) {
	t.Parallel()
	body := []byte(`{"a":1}`)
	require.NoError(t, verify(slacktest.Sign(slacktest.SigningSecret, time.Now(), body), body))
	require.Error(t, verify(slacktest.Sign("another", time.Now(), body), body))
	require.Error(t, verify(slacktest.Sign(slacktest.SigningSecret, time.Now().Add(-6*time.Minute), body), body))
	require.Error(t, verify(slacktest.Sign(slacktest.SigningSecret, time.Now(), body), []byte(`{"a":2}`)))
}

func TestURLVerification(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	app(t, s, func(w http.ResponseWriter, _ *http.Request, body []byte) {
		var got struct{ Type, Challenge string }
		_ = json.Unmarshal(body, &got)
		if got.Type == slackevents.URLVerification {
			_, _ = io.WriteString(w, got.Challenge)
		}
	})
	require.NoError(t, s.Challenge(t.Context()))
	app(t, s, func(http.ResponseWriter, *http.Request, []byte) {})
	require.Error(t, s.Challenge(t.Context()))
}

func TestEventsAreRetriedUntilAcknowledged(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t, slacktest.AckTimeout(500*time.Millisecond))
	var calls atomic.Int32
	headers := make(chan http.Header, 10)
	ids := make(chan string, 10)
	app(t, s, func(w http.ResponseWriter, r *http.Request, body []byte) {
		headers <- r.Header
		e, err := slackevents.ParseEvent(body, slackevents.OptionNoVerifyToken())
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		ids <- e.Data.(*slackevents.EventsAPICallbackEvent).EventID
		switch calls.Add(1) {
		case 1:
			w.WriteHeader(http.StatusInternalServerError)
		case 2:
			<-r.Context().Done()
		}
	})
	said := s.Say(slacktest.Ana, slacktest.DM, "hello")
	require.NoError(t, said.Wait(bounded(t)))
	attempts := said.Events[0].Attempts()
	require.Len(t, attempts, 3)
	require.Equal(t, http.StatusInternalServerError, attempts[0].Status)
	require.Equal(t, http.StatusOK, attempts[2].Status)

	for _, want := range [][2]string{{"", ""}, {"1", "http_error"}, {"2", "http_timeout"}} {
		h := <-headers
		require.Equal(t, want, [2]string{h.Get("X-Slack-Retry-Num"), h.Get("X-Slack-Retry-Reason")})
		require.Equal(t, "application/json", h.Get("Content-Type"))
		require.Equal(t, said.Events[0].ID, <-ids)
	}
}

func TestAppDisablesRetries(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	app(t, s, func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		w.Header().Set("X-Slack-No-Retry", "1")
		w.WriteHeader(http.StatusInternalServerError)
	})
	said := s.Say(slacktest.Ana, slacktest.DM, "hello")
	require.ErrorIs(t, said.Wait(bounded(t)), slacktest.ErrNotAcknowledged)
	require.Len(t, said.Events[0].Attempts(), 1)
}

func TestUnreachableAppIsRetried(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t, slacktest.RetryDelays(time.Millisecond))
	server := httptest.NewServer(http.NotFoundHandler())
	s.ServeEvents(server.URL)
	server.Close()
	said := s.Say(slacktest.Ana, slacktest.DM, "hello")
	require.ErrorIs(t, said.Wait(bounded(t)), slacktest.ErrNotAcknowledged)
	attempts := said.Events[0].Attempts()
	require.Len(t, attempts, 2)
	require.Equal(t, "connection_failed", attempts[1].Reason)
}

func TestCommandsAndInteractionsAreForms(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	commands := make(chan slack.SlashCommand, 1)
	interactions := make(chan slack.InteractionCallback, 1)
	app(t, s, func(w http.ResponseWriter, r *http.Request, _ []byte) {
		if r.FormValue("command") != "" {
			if command, err := slack.SlashCommandParse(r); err == nil {
				commands <- command
			}
			_, _ = io.WriteString(w, "on it")
			return
		}
		if r.FormValue("payload") == "" {
			return
		}
		interaction, err := slack.InteractionCallbackParse(r)
		if err == nil {
			interactions <- interaction
		}
	})
	ctx := bounded(t)
	typed := s.Slash(slacktest.Ana, slacktest.General, "/holdfast", "status now")
	require.NoError(t, typed.Wait(ctx))
	command := <-commands
	require.Equal(t, "status now", command.Text)
	require.Equal(t, "general", command.ChannelName)
	require.NoError(t, s.Await(ctx, func() bool { return len(s.Ephemeral(slacktest.General)) == 1 }))
	require.Equal(t, "on it", s.Ephemeral(slacktest.General)[0].Text, "the body of the answer is one to the user")
	require.Equal(t, slacktest.Ana, s.Ephemeral(slacktest.General)[0].Recipient)

	said := s.Say(slacktest.Ben, slacktest.General, "look at this")
	require.NoError(t, s.Shortcut(slacktest.Ana, slacktest.General, said.TS, "ask").Wait(ctx))
	interaction := <-interactions
	require.Equal(t, slack.InteractionTypeMessageAction, interaction.Type)
	require.Equal(t, "ask", interaction.CallbackID)
	require.Equal(t, "look at this", interaction.Message.Text)
}
