package discordtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// refusal is an answer with an error.
type refusal struct {
	status, code int
	message      string
}

// Error implements error.
func (r *refusal) Error() string { return r.message }

func refuse(status, code int, message string) error { return &refusal{status, code, message} }

var (
	errNoChannel = refuse(404, 10003, "Unknown Channel")
	errNoMessage = refuse(404, 10008, "Unknown Message")
	errNoUser    = refuse(404, 10013, "Unknown User")
)

// call is a call of the API. Its methods are called with the mutex of the server held.
type call struct {
	*Server
	r     *http.Request
	body  map[string]any
	files []uploaded
}

type uploaded struct {
	name, kind string
	content    []byte
}

// handle adds a method of the API. Its answer is JSON; nil: status 204.
func handle(mux *http.ServeMux, s *Server, pattern string, f func(*call) (any, error)) {
	method, path, _ := strings.Cut(pattern, " ")
	mux.HandleFunc(method+" /api/v10"+path, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, f) })
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, f func(*call) (any, error)) {
	raw, _ := io.ReadAll(http.MaxBytesReader(w, r.Body, 30<<20)) // what is missing will not be understood
	s.mu.Lock()
	defer s.mu.Unlock()
	s.carryOut(w, r, raw, f)
}

// carryOut answers a call. The mutex is held.
func (s *Server) carryOut(w http.ResponseWriter, r *http.Request, raw []byte, f func(*call) (any, error)) {
	c := &call{Server: s, r: r}
	if err := c.decode(raw); err != nil {
		answer(w, 400, map[string]any{"message": err.Error(), "code": 50109})
		return
	}
	tokenless := strings.Contains(r.URL.Path, "/webhooks/") || strings.Contains(r.URL.Path, "/interactions/") || strings.HasSuffix(r.URL.Path, "/gateway")
	if r.Header.Get("Authorization") != "Bot "+Token && !tokenless {
		answer(w, 401, map[string]any{"message": "401: Unauthorized", "code": 0})
		return
	}
	if s.limit > 0 && r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/messages") {
		left, reset := s.take(r.PathValue("channel"))
		w.Header().Set("X-RateLimit-Bucket", "messages")
		w.Header().Set("X-RateLimit-Limit", strconv.Itoa(s.limit))
		w.Header().Set("X-RateLimit-Remaining", strconv.Itoa(max(left, 0)))
		w.Header().Set("X-RateLimit-Reset-After", fmt.Sprintf("%.3f", (reset+time.Millisecond).Seconds()))
		if left < 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(reset.Seconds()+0.999)))
			answer(w, 429, map[string]any{"message": "too many", "code": 0, "retry_after": reset.Seconds(), "global": false})
			return
		}
	}
	result, err := f(c)
	failed, refused := errors.AsType[*refusal](err)
	switch {
	case refused:
		answer(w, failed.status, map[string]any{"message": failed.message, "code": failed.code})
	case result == nil:
		w.WriteHeader(http.StatusNoContent)
	default:
		answer(w, 200, result)
	}
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // an error means that the client is gone
}

// decode reads a body: JSON, or a form with files and JSON.
func (c *call) decode(raw []byte) error {
	if len(raw) == 0 {
		return nil
	}
	kind, parameters, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" {
		var list []any
		if json.Unmarshal(raw, &list) == nil {
			c.body = map[string]any{"list": list}
			return nil
		}
		return json.Unmarshal(raw, &c.body)
	}
	reader := multipart.NewReader(bytes.NewReader(raw), parameters["boundary"])
	for {
		part, err := reader.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return err
		}
		if part.FormName() == "payload_json" {
			if err := json.Unmarshal(content, &c.body); err != nil {
				return err
			}
			continue
		}
		c.files = append(c.files, uploaded{part.FileName(), part.Header.Get("Content-Type"), content})
	}
}

func (c *call) text(key string) string {
	text, _ := c.body[key].(string)
	return text
}

// into decodes a field of the body.
func (c *call) into(key string, v any) bool {
	encoded, _ := json.Marshal(c.body[key]) // it was decoded
	return c.body[key] != nil && json.Unmarshal(encoded, v) == nil
}

// channel returns the channel that the path names, if what is done there is not refused.
func (c *call) channel(what string) (*Channel, error) {
	channel := c.channels[c.r.PathValue("channel")]
	if channel == nil {
		return nil, errNoChannel
	}
	for _, kind := range []string{what, "*"} {
		if code := channel.refused[kind]; code != 0 {
			return nil, refuse(403, code, "Missing Access")
		}
	}
	return channel, nil
}
