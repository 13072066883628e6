package telegramtest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
)

// maxUpload is the size of a request that Telegram takes, in bytes.
const maxUpload = 50 << 20

// arguments are the parameters of a call: strings, or JSON.
type arguments map[string]string

func (a arguments) number(name string) int64 {
	n, _ := strconv.ParseInt(a[name], 10, 64)
	return n
}

// Call is a call that the bot made.
type Call struct {
	Method    string
	Arguments map[string]string
	Files     map[string]File // by parameter
	Failed    int             // the status of the refusal; 0: it was carried out, or the connection was cut
}

// refusal is the answer to a call that is not carried out.
type refusal struct {
	OK          bool           `json:"ok"`
	Code        int            `json:"error_code"`
	Description string         `json:"description"`
	Parameters  map[string]any `json:"parameters,omitempty"`
}

func refused(code int, description string) *refusal {
	return &refusal{Code: code, Description: description}
}

func answer(w http.ResponseWriter, result any) {
	w.Header().Set("Content-Type", "application/json")
	if r, is := result.(*refusal); is {
		w.WriteHeader(r.Code)
		_ = json.NewEncoder(w).Encode(r)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"ok": true, "result": result})
}

// serve answers a call.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, method string) {
	call, err := read(r, method)
	if err != nil {
		answer(w, refused(http.StatusRequestEntityTooLarge, "Request Entity Too Large"))
		return
	}
	answer(w, s.perform(r, &call))
}

// read reads the parameters from wherever clients put them: the URL, a form or JSON.
func read(r *http.Request, method string) (Call, error) {
	call := Call{Method: method, Arguments: map[string]string{}, Files: map[string]File{}}
	take := func(values url.Values) {
		for name := range values {
			call.Arguments[name] = values.Get(name)
		}
	}
	take(r.URL.Query())
	r.Body = http.MaxBytesReader(nil, r.Body, maxUpload+1<<20)
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return call, err
		}
		var values map[string]json.RawMessage
		_ = json.Unmarshal(body, &values) // Telegram takes it for no parameters
		for name, value := range values {
			var text string
			if json.Unmarshal(value, &text) != nil {
				text = string(value)
			}
			if text != "null" {
				call.Arguments[name] = text
			}
		}
		return call, nil
	}
	if err := r.ParseMultipartForm(maxUpload); err != nil && r.MultipartForm != nil {
		return call, err
	}
	take(r.Form)
	if r.MultipartForm == nil {
		return call, nil
	}
	for name, headers := range r.MultipartForm.File {
		file, err := headers[0].Open()
		if err != nil {
			return call, err
		}
		content, err := io.ReadAll(file)
		if err != nil {
			return call, err
		}
		call.Files[name] = File{Name: headers[0].Filename, Content: content, Size: int64(len(content))}
	}
	return call, nil
}

// Calls returns the calls of a method, in order; all if it is empty.
func (s *Server) Calls(method string) []Call {
	var all []Call
	for _, made := range s.Made(cmp.Or(method, faulty.Any)) {
		again := &http.Request{Method: made.Request.Method, URL: made.URL, Header: made.Header, Body: io.NopCloser(bytes.NewReader(made.Content))}
		call, _ := read(again, made.Method) // what cannot be read was refused
		if call.Failed = made.Status; made.Status == http.StatusOK {
			call.Failed = 0
		}
		all = append(all, call)
	}
	return all
}
