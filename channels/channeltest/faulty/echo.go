package faulty

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
)

// Echo runs a server that repeats what it receives, as a careless one or a proxy does. answer
// returns the status and the body, which is encoded as JSON, of the answer to a request:
// received is that with its headers and body.
func Echo(t testing.TB, answer func(path, received string) (status int, body any)) *Server {
	t.Helper()
	return Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, _ := io.ReadAll(r.Body)
		status, body := answer(r.URL.Path, fmt.Sprintf("%s %v %s", r.URL, r.Header, content))
		encoded, err := json.Marshal(body)
		if err != nil {
			panic(err) // a test's mistake
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write(encoded)
	}), func(r *http.Request) string { return r.URL.Path })
}
