// Package whatsapptest is a WhatsApp Cloud API for tests: a server in this process, on
// loopback, with one business number, messages and media, webhooks with their redeliveries
// and reports, the 24-hour window, and faults on demand.
//
// It follows Meta's documentation and, for what that leaves open, reports of its users.
package whatsapptest

import (
	"fmt"
	"net/http"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
)

// The number and the app of every server.
const (
	PhoneNumberID = "106540352242922"
	AccessToken   = "EAAJB-test"
	AppSecret     = "5f3c7e1c0ffee"
	VerifyToken   = "meatyhamhock"
	version       = "v23.0"
)

// Some people.
const (
	Ana    = "16505551234"
	Ben    = "4915112345678"
	Hidden = "US.13491208655302741918" // hides the number
)

// window is how long after a person's message the number may write.
const window = 24 * time.Hour

// Server is a WhatsApp with one business number. Its calls are named "number", "messages",
// "media", "file" and "download". Safe for concurrent use.
type Server struct {
	*faulty.Server
	settings

	mu     sync.Mutex
	minted int
	wrote  map[string]time.Time // by person
	said   map[string]object    // messages of people, by ID
	sent   []Sent
	media  map[string]file
	budget map[string]int // messages that a person may still be sent; any number where none is set
	gone   map[string]bool
	target string
	silent bool // no reports are delivered
}

type object = map[string]any

type file struct {
	name, kind string
	content    []byte
}

type settings struct{ retries []time.Duration }

// Option changes a server.
type Option func(*settings)

// Retries sets the pauses between deliveries of a webhook; default: 10, 100 and 500 ms.
func Retries(pauses ...time.Duration) Option { return func(o *settings) { o.retries = pauses } }

// Start runs a server until the test ends.
func Start(t testing.TB, options ...Option) *Server {
	t.Helper()
	s := &Server{
		settings: settings{[]time.Duration{10 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond}},
		wrote:    map[string]time.Time{}, said: map[string]object{}, media: map[string]file{}, budget: map[string]int{}, gone: map[string]bool{},
	}
	for _, option := range options {
		option(&s.settings)
	}
	s.Server = faulty.Start(t, s.routes(), func(r *http.Request) string {
		switch last := path.Base(r.URL.Path); {
		case strings.HasPrefix(r.URL.Path, "/whatsapp_business/"):
			return "download"
		case last == "messages", last == "media":
			return last
		case last == PhoneNumberID:
			return "number"
		}
		return "file"
	})
	return s
}

// APIURL is the address of the API.
func (s *Server) APIURL() string { return s.URL() + "/" + version }

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /{version}/"+PhoneNumberID+"/messages", s.serve(s.post))
	mux.HandleFunc("POST /{version}/"+PhoneNumberID+"/media", s.serve(s.upload))
	mux.HandleFunc("GET /{version}/"+PhoneNumberID, s.serve(s.number))
	mux.HandleFunc("GET /{version}/{id}", s.serve(s.about))
	mux.HandleFunc("GET /whatsapp_business/attachments/{id}", s.serve(s.download))
	return mux
}

// mint returns a new ID. The lock is held.
func (s *Server) mint(prefix string) string {
	s.minted++
	return fmt.Sprintf("%s%06d", prefix, s.minted)
}
