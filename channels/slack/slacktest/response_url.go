package slacktest

import (
	"io"
	"net/http"
	"path"
	"slices"
	"time"
)

// Limits of a response_url.
const (
	responseUses = 5
	responseLife = 30 * time.Minute
)

// responseURL is where the app may answer an interaction or a command.
type responseURL struct {
	user    string
	channel *channel
	message *Message // nil: of a command
	made    time.Time
	uses    int
}

func (s *Server) responseURL(kind, user string, c *channel, m *Message) string {
	id := s.id("response-")
	s.responses[id] = &responseURL{user: user, channel: c, message: m, made: time.Now()}
	return s.base + "/" + kind + "/" + id
}

func (s *Server) serveResponseURL(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	args := arguments{}
	if err == nil {
		err = args.add(body)
	}
	call := s.record("response_url", "", args)
	run := s.meet(r.Context(), call)
	if run.fault != nil {
		s.answerFault(w, call, run.fault)
		return
	}
	if err == nil {
		s.mu.Lock()
		err = s.use(s.responses[r.PathValue("id")], args) //nolint:contextcheck // deliveries to the app outlive the request
		s.change()
		s.mu.Unlock()
	}
	switch {
	case run.lose:
		s.answered(call, 0, "", "")
		cut(w)
	case err != nil:
		s.answer(w, call, http.StatusNotFound, problemReply(err))
	default:
		s.answered(call, http.StatusOK, "", "")
		_, _ = io.WriteString(w, "ok")
	}
}

// respond applies the acknowledgement of a command.
func (s *Server) respond(address string, body []byte) {
	args := arguments{}
	if args.add(body) != nil {
		args = arguments{"text": string(body)}
	}
	if len(args) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	u := *s.responses[path.Base(address)]
	_ = s.use(&u, args)
	s.change()
}

// use applies a post to a response_url. The lock is held.
func (s *Server) use(u *responseURL, args arguments) error {
	switch {
	case u == nil:
		return fail("invalid_url")
	case u.uses >= responseUses:
		return fail("used_url")
	case time.Since(u.made) > responseLife:
		return fail("expired_url")
	}
	blocks, err := s.checkBlocks(args.raw("blocks"), maxBlocks)
	if err != nil {
		return err
	}
	u.uses++
	c := u.channel
	switch {
	case args.yes("delete_original") && u.message != nil:
		u.erase(s)
		return nil
	case args.yes("replace_original") && u.message != nil:
		u.replace(s, args["text"], blocks)
		return nil
	case args["text"] == "" && blocks == nil:
		return fail("no_text")
	}
	m := &Message{Channel: c.ID, User: BotUser, BotID: Bot, Text: args["text"], Blocks: blocks, ThreadTS: args["thread_ts"], Args: args}
	if args["response_type"] == "in_channel" {
		s.post(c, m)
		return nil
	}
	m.TS, m.Recipient = s.ts(), u.user
	c.ephemeral = append(c.ephemeral, m)
	return nil
}

func (u *responseURL) erase(s *Server) {
	if !slices.Contains(u.channel.ephemeral, u.message) {
		s.remove(u.channel, u.message)
		return
	}
	u.channel.ephemeral = slices.DeleteFunc(u.channel.ephemeral, func(m *Message) bool { return m == u.message })
}

func (u *responseURL) replace(s *Server, text string, blocks []byte) {
	m := u.message
	previous := s.wire(u.channel, m, false)
	m.Text = text
	m.setBlocks(blocks)
	m.Edits++
	if !slices.Contains(u.channel.ephemeral, m) {
		s.announceChange(u.channel, m, previous)
	}
}

func (s *Server) permalink(m *Message) string {
	address := s.base + "/archives/" + m.Channel + "/p" + m.TS[:10] + m.TS[11:]
	if m.ThreadTS != "" {
		address += "?thread_ts=" + m.ThreadTS + "&cid=" + m.Channel
	}
	return address
}
