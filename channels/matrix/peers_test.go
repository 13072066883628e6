//go:build peers

package matrix_test

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/matrix/matrixtest"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
)

// peersVariable names the folder that `make peers` installs the counterparts in.
const peersVariable = "HOLDFAST_PEERS"

// person is a client made with matrix-js-sdk, on which Element is built.
type person struct {
	t     *testing.T
	in    io.WriteCloser
	lines chan string
	seen  []string // lines that nobody asked for yet
}

// message is what a client shows.
type message struct{ ID, Sender, Thread, Reply, Type, Body, HTML, Edited, URL string }

func startPerson(s *setup, user, token string) *person {
	dir := os.Getenv(peersVariable)
	require.NotEmpty(s.t, dir, "run this with `make peers`")
	cmd := exec.CommandContext(s.ctx, filepath.Join(dir, "node_modules", ".bin", "node"), "testdata/ana.mjs")
	cmd.Env = append(os.Environ(), "PEERS="+dir, "MATRIX_URL="+s.URL(), "USER_ID="+user, "TOKEN="+token)
	cmd.Stderr = s.t.Output()
	in, err := cmd.StdinPipe()
	require.NoError(s.t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(s.t, err)
	require.NoError(s.t, cmd.Start())
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	p := &person{t: s.t, in: in, lines: make(chan string, 1000)}
	go func() {
		defer close(p.lines)
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			p.lines <- scanner.Text()
		}
	}()
	return p
}

// next returns the next line that begins with a word and is wanted, whatever comes before.
func (p *person) next(word string, wanted func(rest string) bool) string {
	p.t.Helper()
	for i, line := range p.seen {
		if rest, is := strings.CutPrefix(line, word+" "); is && wanted(rest) {
			p.seen = append(p.seen[:i:i], p.seen[i+1:]...)
			return rest
		}
	}
	for line := range p.lines {
		if rest, is := strings.CutPrefix(line, word+" "); is && wanted(rest) {
			return rest
		}
		p.seen = append(p.seen, line)
	}
	require.FailNow(p.t, "the client does not say "+word, "%v", p.seen)
	return ""
}

func always(string) bool { return true }

// do has the client do something, and returns what comes of it.
func (p *person) do(what ...any) string {
	p.t.Helper()
	line, err := json.Marshal(what)
	require.NoError(p.t, err)
	_, err = p.in.Write(append(line, '\n'))
	require.NoError(p.t, err)
	return p.next("done", always)
}

// sees waits until the client shows a message of the bot's, or an edit of one.
func (p *person) sees(word string, wanted func(m message) bool) (m message) {
	p.t.Helper()
	p.next(word, func(rest string) bool {
		m = message{}
		return json.Unmarshal([]byte(rest), &m) == nil && m.Sender == matrixtest.Bot && wanted(m)
	})
	return m
}

// TestPeerMatrixJSSDK has a person with somebody else's client talk to the channel.
func TestPeerMatrixJSSDK(t *testing.T) {
	t.Parallel()
	s := open(t, nil).run()
	ana := startPerson(s, matrixtest.Ana, "token-ana")
	ana.next("sync", func(state string) bool { return state == "PREPARED" })

	room := ana.do("create", matrixtest.Bot)
	first := ana.do("say", room, "Grüße <b>")
	got := s.accepted(1)[0]
	require.Equal(t, "Grüße <b>", got.Text)
	require.Equal(t, "direct/"+room, got.Chat)
	require.Equal(t, first, got.PlatformID)

	turn := channels.PresentedTurn{ID: "m1", Reply: "o1", Messages: []domain.Inbound{got}, Drafts: channeltest.NewDrafts()}
	s.channel.Present(turn)
	ana.next("typing", func(rest string) bool { return rest == matrixtest.Bot+" true" })
	s.channel.Show("m1", event.Event{Kind: event.Text, Text: "It is *Tues"})
	s.await(func() bool { return len(s.ours(room)) == 1 && strings.HasPrefix(s.ours(room)[0].Body, "It is") })
	s.channel.Pause(s.ctx, "m1")
	out := reply(got.Chat, "o1", "It is *Tuesday*, says `date`.")
	out.Draft = s.ours(room)[0].ID
	_, err := s.channel.Send(s.ctx, out)
	require.NoError(t, err)
	shown := ana.sees("edited", func(m message) bool { return m.Body == out.Text })
	require.Equal(t, out.Draft, shown.ID)
	require.Equal(t, "<p>It is <em>Tuesday</em>, says <code>date</code>.</p>\n", shown.HTML)

	ana.do("send", room, map[string]any{
		"msgtype": "m.text", "body": "* and now?", "m.new_content": map[string]any{"msgtype": "m.text", "body": "and now?"},
		"m.relates_to": map[string]any{"rel_type": "m.replace", "event_id": first},
	})
	ana.do("send", room, map[string]any{
		"msgtype": "m.text", "body": "thanks", "m.relates_to": map[string]any{"m.in_reply_to": map[string]any{"event_id": shown.ID}},
	})
	require.Equal(t, "> It is *Tuesday*, says `date`.\n\nthanks", s.accepted(2)[1].Text)

	ana.do("send", room, map[string]any{
		"msgtype": "m.text", "body": "in a thread", "m.relates_to": map[string]any{"rel_type": "m.thread", "event_id": first},
	})
	threaded := s.accepted(3)[2]
	require.Equal(t, first, threaded.Thread)
	out = reply(threaded.Chat, "o3", "an answer")
	out.Thread, out.ReplyTo = threaded.Thread, threaded.PlatformID
	_, err = s.channel.Send(s.ctx, out)
	require.NoError(t, err)
	require.Equal(t, first, ana.sees("message", func(m message) bool { return m.Body == "an answer" }).Thread)

	uri := ana.do("upload", room, "notes.txt", "hello")
	ana.do("send", room, map[string]any{"msgtype": "m.file", "body": "notes.txt", "url": uri, "info": map[string]any{"mimetype": "text/plain", "size": 5}})
	saved := map[string]string{}
	enriched, err := s.channel.Enrich(s.ctx, channels.Enrichment{Message: s.accepted(4)[3], Save: channeltest.SaveTo(saved)})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"notes.txt": "hello"}, saved)
	require.Equal(t, "Ana", enriched.SenderName)
	file := reply(got.Chat, "o4", "")
	file.File, file.Content = "answer.txt", []byte("HELLO")
	_, err = s.channel.Send(s.ctx, file)
	require.NoError(t, err)
	sent := ana.sees("message", func(m message) bool { return m.Type == "m.file" })
	require.Equal(t, "HELLO", ana.do("download", sent.URL))

	require.NoError(t, s.channel.Discard(s.ctx, domain.Draft{Chat: got.Chat, PlatformID: sent.ID}))
	require.Equal(t, sent.ID, ana.next("removed", always))
	require.Len(t, s.backend.Accepted(), 4)
}
