package slacktest

import (
	"maps"
	"time"
)

// Call is a request to the server and, once there is one, its response.
type Call struct {
	Method string            // "chat.postMessage"; "response_url", "upload" and "download" for other requests
	Args   map[string]string // strings as they are, everything else as JSON; without the token
	Token  string
	At     time.Time
	Took   time.Duration // zero: not answered yet
	Status int           // of HTTP; 0: cut, or not answered yet
	Error  string        // what Slack answered instead of ok
	TS     string        // of the message in the answer
}

// Calls returns the requests for a method in order of arrival, including failed and
// unanswered ones; "" for all methods.
func (s *Server) Calls(method string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Call
	for _, c := range s.calls {
		if method == "" || c.Method == method {
			found = append(found, c.clone())
		}
	}
	return found
}

func (c *Call) clone() Call {
	out := *c
	out.Args = maps.Clone(c.Args)
	return out
}

func (s *Server) record(method, token string, args arguments) *Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &Call{Method: method, Args: args, Token: token, At: time.Now()}
	s.calls = append(s.calls, c)
	s.change()
	return c
}

// answered records how a call ended. A status of 0 means that the connection was cut.
func (s *Server) answered(c *Call, status int, code, ts string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.Status, c.Error, c.TS, c.Took = status, code, ts, max(time.Since(c.At), 1)
	s.change()
}
