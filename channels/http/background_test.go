package http_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/http"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

func TestBackground(t *testing.T) {
	t.Parallel()
	s := start(t, http.Options{}, nil)
	const path = "/v1/sessions/http:a/b/background"
	status, _, body := s.do("GET", path, "")
	require.Equal(t, 200, status)
	require.JSONEq(t, `{"session":"http:a/b","replies":[]}`, body, "even for an unknown session")

	at := time.Date(2026, 3, 4, 15, 30, 0, 123456000, time.UTC)
	s.backend.Say("http:a/b", domain.BackgroundReply{
		Turn: "m1", Cause: domain.CauseJob, Label: "plants", Status: domain.ReplyDone, Text: "water them", EndedAt: at,
	})
	s.backend.Say("http:a/b", domain.BackgroundReply{
		Turn: "m2", Cause: domain.CauseSubagent, Label: "dig", Status: domain.ReplyFailed, Text: "No answer.", EndedAt: at.Add(time.Second),
	})
	second := `{"turn":"m2","cause":"subagent","label":"dig","status":"failed","reply":"No answer.","ended_at":"2026-03-04T15:30:01.123456Z"}`
	_, _, body = s.do("GET", path, "")
	require.JSONEq(t, `{"session":"http:a/b","replies":[
		{"turn":"m1","cause":"job","label":"plants","status":"done","reply":"water them","ended_at":"2026-03-04T15:30:00.123456Z"},`+second+`]}`, body)
	_, _, body = s.do("GET", path+"?after=2026-03-04T15:30:00.123456Z", "")
	require.JSONEq(t, `{"session":"http:a/b","replies":[`+second+`]}`, body)
	_, _, body = s.do("GET", path+"?after=2026-03-04T16:30:01.123456%2B01:00", "")
	require.JSONEq(t, `{"session":"http:a/b","replies":[]}`, body)

	status, _, body = s.do("GET", path+"?after=m1", "")
	require.Equal(t, 400, status)
	require.Contains(t, body, "after must be a time")
	status, _, _ = s.do("POST", path, "{}")
	require.Equal(t, 405, status)
	status, _, _ = s.do("GET", "/v1/sessions/background", "")
	require.Equal(t, 404, status)
}
