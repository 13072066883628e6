package slacktest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
)

// File is a file that was shared.
type File struct {
	ID       string
	Name     string
	Title    string
	Mimetype string // empty: derived from the name
	User     string
	Alt      string
	Content  []byte
	Gone     bool // deleted: listed but not served
	Connect  bool // of another workspace: messages have only its ID

	length int
}

// File returns a file by its ID.
func (s *Server) File(id string) (File, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.files[id]
	if f == nil {
		return File{}, false
	}
	return *f, true
}

// RemoveFile deletes a file; messages still list it.
func (s *Server) RemoveFile(id string) {
	defer s.act()()
	if f := s.files[id]; f != nil {
		f.Gone = true
	}
}

// keep adds a file to the workspace.
func (s *Server) keep(f *File) {
	if f.ID == "" {
		f.ID = s.id("F")
	}
	if f.Title == "" {
		f.Title = f.Name
	}
	if f.Mimetype == "" {
		f.Mimetype = mime.TypeByExtension(path.Ext(f.Name))
	}
	if f.Mimetype == "" {
		f.Mimetype = "application/octet-stream"
	}
	s.files[f.ID] = f
}

// sharedFile is a file as messages have it.
func (s *Server) sharedFile(f *File) reply {
	if f.Connect {
		return reply{"id": f.ID, "mode": "file_access", "file_access": "check_file_info", "created": 0, "timestamp": 0, "user": ""}
	}
	return s.wireFile(f)
}

func (s *Server) wireFile(f *File) reply {
	if known := s.files[f.ID]; known != nil && known.Gone {
		return reply{"id": f.ID, "mode": tombstone}
	}
	kind := strings.TrimPrefix(path.Ext(f.Name), ".")
	address := fmt.Sprintf("%s/files-pri/%s-%s/%s", s.base, Team, f.ID, url.PathEscape(f.Name))
	return reply{
		"id": f.ID, "created": 1712345678, "timestamp": 1712345678, "name": f.Name, "title": f.Title, "mimetype": f.Mimetype,
		"filetype": kind, "pretty_type": strings.ToUpper(kind), "user": f.User, "user_team": Team, "mode": "hosted", "editable": false,
		"size": len(f.Content), "is_external": false, "is_public": true, "alt_txt": f.Alt, "file_access": "visible",
		"url_private": address, "url_private_download": address, "permalink": s.base + "/files/" + f.User + "/" + f.ID + "/" + url.PathEscape(f.Name),
	}
}

func (s *Server) getUploadURL(r *request) (reply, error) {
	length := r.number("length", 0)
	if r.arguments["filename"] == "" || length == 0 {
		return nil, missing("filename, length")
	}
	f := &File{ID: s.id("F"), Name: r.arguments["filename"], Alt: cmp.Or(r.arguments["alt_txt"], r.arguments["alt_text"]), User: BotUser, length: length}
	s.uploads[f.ID] = f
	return reply{"upload_url": s.base + "/upload/v1/" + f.ID, "file_id": f.ID}, nil
}

func (s *Server) serveUpload(w http.ResponseWriter, r *http.Request) {
	call := s.record("upload", "", arguments{"file": r.PathValue("file")})
	if run := s.meet(r.Context(), call); run.fault != nil {
		s.answerFault(w, call, run.fault)
		return
	}
	content, err := uploaded(r)
	s.mu.Lock()
	f := s.uploads[r.PathValue("file")]
	status := http.StatusOK
	switch {
	case f == nil:
		status = http.StatusNotFound
	case err != nil || len(content) != f.length:
		status = http.StatusBadRequest
	default:
		f.Content = content
	}
	s.mu.Unlock()
	s.answered(call, status, "", "")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "%s - %d", http.StatusText(status), len(content))
}

// uploaded reads an upload: the file of a form, or the body.
func uploaded(r *http.Request) ([]byte, error) {
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data") {
		return io.ReadAll(r.Body)
	}
	if err := r.ParseMultipartForm(64 << 20); err != nil {
		return nil, err
	}
	for _, files := range r.MultipartForm.File {
		f, err := files[0].Open()
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return io.ReadAll(f)
	}
	return nil, http.ErrMissingFile
}

func (s *Server) completeUpload(r *request) (reply, error) {
	var named []struct{ ID, Title string }
	if json.Unmarshal(r.raw("files"), &named) != nil || len(named) == 0 {
		return nil, missing("files")
	}
	var files []File
	for _, n := range named {
		f := s.uploads[n.ID]
		if f == nil || f.Content == nil {
			return nil, fail("file_not_found")
		}
		shared := *f
		shared.Title = n.Title
		files = append(files, shared)
	}
	shares, err := s.shares(r)
	if err != nil {
		return nil, err
	}
	wired := make([]reply, len(files))
	for i := range files {
		delete(s.uploads, files[i].ID)
		s.keep(&files[i])
		wired[i] = s.wireFile(&files[i])
	}
	for _, m := range shares {
		m.Files = slices.Clone(files)
		s.post(s.must(m.Channel), m)
	}
	return reply{"files": wired}, nil
}

// shares returns the messages to share files with, not posted yet.
func (s *Server) shares(r *request) ([]*Message, error) {
	ids := r.list("channels")
	if id := r.arguments["channel_id"]; id != "" {
		ids = append(ids, id)
	}
	blocks, err := s.checkBlocks(r.raw("blocks"), maxBlocks)
	if err != nil {
		return nil, err
	}
	var shares []*Message
	for _, id := range ids {
		c, err := s.writable(id)
		if err != nil {
			return nil, err
		}
		thread, err := c.threadFor(r.arguments["thread_ts"])
		if err != nil {
			return nil, err
		}
		shares = append(shares, &Message{
			Channel: c.ID, ThreadTS: thread, User: BotUser, BotID: Bot, Subtype: "file_share",
			Text: r.arguments["initial_comment"], Blocks: blocks,
		})
	}
	return shares, nil
}

func (s *Server) filesInfo(r *request) (reply, error) {
	f := s.files[r.arguments["file"]]
	switch {
	case f == nil:
		return nil, fail("file_not_found")
	case f.Gone:
		return nil, fail("file_deleted")
	}
	return reply{"file": s.wireFile(f), "comments": []reply{}, "response_metadata": reply{"next_cursor": ""}}, nil
}

// serveFile serves url_private. Without a token it answers, as Slack does, with the
// sign-in page: HTML with status 200.
func (s *Server) serveFile(w http.ResponseWriter, r *http.Request) {
	id := strings.TrimPrefix(r.PathValue("file"), Team+"-")
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	call := s.record("download", token, arguments{"file": id})
	run := s.meet(r.Context(), call)
	if run.fault != nil {
		s.answerFault(w, call, run.fault)
		return
	}
	s.mu.Lock()
	f := s.files[id]
	allowed := token == BotToken && slices.Contains(s.scopes, "files:read")
	s.mu.Unlock()
	switch {
	case !allowed:
		s.answered(call, http.StatusFound, "", "")
		http.Redirect(w, r, "/?redir="+r.URL.EscapedPath(), http.StatusFound)
	case f == nil || f.Gone:
		s.answered(call, http.StatusNotFound, "", "")
		http.NotFound(w, r)
	default:
		s.answered(call, http.StatusOK, "", "")
		w.Header().Set("Content-Type", f.Mimetype)
		_, _ = w.Write(f.Content)
	}
}

func serveSignIn(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(w, "<!DOCTYPE html><html><head><title>Sign in | Slack</title></head><body>Sign in</body></html>")
}
