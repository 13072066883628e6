package telegramtest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
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
	Failed    int             // the code of the refusal; 0: it was carried out
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
	call, err := read(w, r, method)
	if err != nil {
		answer(w, refused(http.StatusRequestEntityTooLarge, "Request Entity Too Large"))
		return
	}
	fault := s.fate(&call)
	if fault.hook != nil {
		fault.hook(call)
	}
	var result any
	switch {
	case fault.Cut && !fault.lose:
		cut(w)
		return
	case fault.Status != 0:
		result = fault.refusal()
	default:
		result = s.perform(r, &call)
	}
	if no, is := result.(*refusal); is {
		call.Failed = no.Code
	}
	s.mu.Lock()
	s.calls = append(s.calls, call)
	s.change()
	s.mu.Unlock()
	switch {
	case fault.lose:
		cut(w)
	case fault.Body != "":
		w.WriteHeader(fault.Status)
		_, _ = io.WriteString(w, fault.Body)
	default:
		answer(w, result)
	}
}

// read reads the parameters from wherever clients put them: the URL, a form or JSON.
func read(w http.ResponseWriter, r *http.Request, method string) (Call, error) {
	call := Call{Method: method, Arguments: map[string]string{}, Files: map[string]File{}}
	take := func(values url.Values) {
		for name := range values {
			call.Arguments[name] = values.Get(name)
		}
	}
	take(r.URL.Query())
	r.Body = http.MaxBytesReader(w, r.Body, maxUpload+1<<20)
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
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Call
	for _, c := range s.calls {
		if method == "" || c.Method == method {
			all = append(all, c)
		}
	}
	return all
}

// cut closes a connection without an answer.
func cut(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_ = conn.Close()
	}
}
