package slacktest_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"
	"github.com/slack-go/slack/socketmode"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
)

func TestUpload(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	said := s.Say(slacktest.Ana, slacktest.General, "question")
	summary, err := client(s).UploadFile(slack.UploadFileParameters{
		Filename: "report.csv", Title: "The report", FileSize: 5, Content: "a,b\n1", AltTxt: "numbers",
		Channel: slacktest.General, ThreadTimestamp: said.TS, InitialComment: "here",
	})
	require.NoError(t, err)
	m := s.Thread(slacktest.General, said.TS)[1]
	require.Equal(t, "here", m.Text)
	require.Equal(t, summary.ID, m.Files[0].ID)
	require.Equal(t, "The report", m.Files[0].Title)
	require.Equal(t, "numbers", m.Files[0].Alt)
	require.Equal(t, "a,b\n1", string(m.Files[0].Content))

	info, _, _, err := client(s).GetFileInfo(summary.ID, 0, 0)
	require.NoError(t, err)
	require.Equal(t, 5, info.Size)
	var content bytes.Buffer
	require.NoError(t, client(s).GetFile(info.URLPrivateDownload, &content))
	require.Equal(t, "a,b\n1", content.String())
}

func TestUploadsThatFail(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	upload := slack.UploadFileParameters{Filename: "a.txt", FileSize: 3, Content: "abc", Channel: "C0NONE"}
	_, err := client(s).UploadFile(upload)
	require.ErrorContains(t, err, "channel_not_found")
	upload.FileSize = 4
	_, err = client(s).UploadFile(upload)
	require.ErrorContains(t, err, "400")
	_, err = client(s).CompleteUploadExternalContext(t.Context(), slack.CompleteUploadExternalParameters{Files: []slack.FileSummary{{ID: "F0NONE"}}})
	require.EqualError(t, err, "file_not_found")
	require.Empty(t, s.Posted())
}

func TestAFileOfAPerson(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	socket, _ := connect(t, s)
	said := s.Say(slacktest.Ana, slacktest.DM, "look", slacktest.WithFiles(slacktest.File{Name: "cat photo.png", Content: []byte("\x89PNG")}))
	e := next(t, socket, socketmode.EventTypeEventsAPI)
	message := e.Data.(slackevents.EventsAPIEvent).InnerEvent.Data.(*slackevents.MessageEvent)
	require.Equal(t, "file_share", message.SubType)
	file := message.Message.Files[0]
	require.Equal(t, "image/png", file.Mimetype)
	require.Equal(t, said.TS, message.TimeStamp)

	var content bytes.Buffer
	require.NoError(t, client(s).GetFile(file.URLPrivate, &content))
	require.Equal(t, "\x89PNG", content.String())

	response, err := http.Get(file.URLPrivate)
	require.NoError(t, err)
	page, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.Contains(t, response.Header.Get("Content-Type"), "text/html")
	require.Contains(t, string(page), "Sign in")

	s.SetScopes("chat:write")
	require.ErrorContains(t, client(s).GetFile(file.URLPrivate, &content), "sign-in page")
	s.SetScopes(slacktest.AllScopes...)
	s.RemoveFile(file.ID)
	require.ErrorContains(t, client(s).GetFile(file.URLPrivate, &content), "404")
	_, _, _, err = client(s).GetFileInfo(file.ID, 0, 0)
	require.EqualError(t, err, "file_deleted")
	require.Len(t, s.Calls("download"), 4)
	require.False(t, strings.Contains(file.URLPrivate, " "))
}
