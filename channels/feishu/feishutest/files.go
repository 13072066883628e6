package feishutest

import (
	"io"
	"mime"
	"net/http"
	"path"
	"strings"
)

func (s *Server) resource(c *call) any {
	m := s.find(c.PathValue("id"))
	if m == nil || !strings.Contains(m.Content, c.PathValue("key")) {
		return refuse(234003, "File not in msg.")
	}
	f, known := s.files[c.PathValue("key")]
	if !known || f.Kind != c.URL.Query().Get("type") {
		return refuse(234001, "Invalid request param.")
	}
	return f
}

// AddFile makes a file or image that can be sent in a message, and returns its key.
func (s *Server) AddFile(f File) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.store(f)
}

func (s *Server) store(f File) string {
	prefix := "file_v3_"
	if f.Kind == "image" {
		prefix = "img_v3_"
	}
	if f.Type == "" {
		f.Type = "application/octet-stream"
	}
	key := s.id(prefix)
	s.files[key] = f
	return key
}

// Uploaded returns a file that was uploaded or added.
func (s *Server) Uploaded(key string) File {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files[key]
}

func (s *Server) upload(c *call) any {
	field := strings.TrimSuffix(path.Base(c.URL.Path), "s") // image or file
	reader, err := c.MultipartReader()
	if err != nil {
		return refuse(234001, "Invalid request param.")
	}
	values := map[string][]byte{}
	for {
		part, err := reader.NextPart()
		if err != nil {
			break
		}
		values[part.FormName()], _ = io.ReadAll(part) // the content may come without a file name
	}
	content, kind := values[field], string(values[field+"_type"])
	switch {
	case kind == "":
		return refuse(234001, "Invalid request param.")
	case len(content) == 0:
		return refuse(234010, "File's size can't be 0.")
	}
	name := string(values["file_name"])
	kind = mime.TypeByExtension(path.Ext(name))
	if field == "image" {
		kind = http.DetectContentType(content)
	}
	key := s.store(File{Name: name, Kind: field, Type: kind, Content: content})
	return ok(map[string]any{field + "_key": key})
}
