package whatsapptest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"time"
	"unicode/utf8"
)

// Sent is a message of the number.
type Sent struct {
	ID       string
	To       string
	Type     string // such as text, interactive, image
	Text     string // or the caption
	Key      string // biz_opaque_callback_data
	Buttons  []Button
	FileName string
	MIME     string
	Content  []byte
}

// Button is a button below a message.
type Button struct{ ID, Title string }

// Sent returns what the number sent, in order.
func (s *Server) Sent() []Sent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sent)
}

type reply struct {
	status int
	body   object
	raw    []byte
}

func refuse(status, code int, message string) reply {
	return reply{status: status, body: object{"error": object{
		"message": "(#" + message + ")", "type": "OAuthException", "code": code, "fbtrace_id": "A1",
		"error_data": object{"messaging_product": "whatsapp", "details": message},
	}}}
}

// serve decodes and answers a call with the access token.
func (s *Server) serve(handle func(*http.Request, object) reply) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		encoded, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(encoded))
		body := object{}
		_ = json.Unmarshal(encoded, &body)
		out := refuse(http.StatusUnauthorized, 190, "Invalid OAuth access token - Cannot parse access token")
		if r.Header.Get("Authorization") == "Bearer "+AccessToken {
			s.mu.Lock()
			out = handle(r, body)
			s.mu.Unlock()
		}
		if out.raw != nil {
			_, _ = w.Write(out.raw)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(out.status)
		_ = json.NewEncoder(w).Encode(out.body)
	}
}

func (s *Server) number(*http.Request, object) reply {
	return reply{http.StatusOK, object{"id": PhoneNumberID, "display_phone_number": "+1 555-078-3881", "verified_name": "Acme"}, nil}
}

// post takes a message, or marks one as read.
func (s *Server) post(_ *http.Request, body object) reply {
	if body["messaging_product"] != "whatsapp" {
		return refuse(http.StatusBadRequest, 100, "The parameter messaging_product is required.")
	}
	if body["status"] == "read" {
		if id, _ := body["message_id"].(string); s.said[id] == nil {
			return refuse(http.StatusBadRequest, 100, "Invalid parameter: message_id")
		}
		return reply{http.StatusOK, object{"success": true}, nil}
	}
	m := Sent{}
	m.To, _ = body["to"].(string)
	if m.To == "" {
		m.To, _ = body["recipient"].(string)
	}
	m.Type, _ = body["type"].(string)
	if m.Type == "" {
		m.Type = "text"
	}
	m.Key, _ = body["biz_opaque_callback_data"].(string)
	content, _ := body[m.Type].(object)
	if refused := s.fill(&m, content); refused.status != 0 {
		return refused
	}
	left, limited := s.budget[m.To]
	switch {
	case m.To == "" || len(m.Key) > 512:
		return refuse(http.StatusBadRequest, 100, "Invalid parameter")
	case s.gone[m.To]:
		return refuse(http.StatusBadRequest, 131026, "Message undeliverable")
	case limited && left == 0, time.Since(s.wrote[m.To]) > window:
		return refuse(http.StatusBadRequest, 131047, "Re-engagement message")
	}
	if limited {
		s.budget[m.To] = left - 1
	}
	m.ID = s.mint("wamid.sent-")
	s.sent = append(s.sent, m)
	s.report(m)
	return reply{http.StatusOK, object{
		"messaging_product": "whatsapp", "contacts": []object{{"input": m.To, "wa_id": m.To}}, "messages": []object{{"id": m.ID}},
	}, nil}
}

// fill reads the content of a message.
func (s *Server) fill(m *Sent, content object) reply {
	limit := 1024
	switch m.Type {
	case "text":
		m.Text, _ = content["body"].(string)
		limit = 4096
		if m.Text == "" {
			return refuse(http.StatusBadRequest, 100, "The parameter text['body'] is required.")
		}
	case "interactive":
		text, _ := content["body"].(object)
		m.Text, _ = text["text"].(string)
		action, _ := content["action"].(object)
		buttons, _ := action["buttons"].([]any)
		for _, b := range buttons {
			button, _ := b.(object)
			chosen, _ := button["reply"].(object)
			id, _ := chosen["id"].(string)
			title, _ := chosen["title"].(string)
			if id == "" || len(id) > 256 || title == "" || utf8.RuneCountInString(title) > 20 {
				return refuse(http.StatusBadRequest, 131009, "Button title length invalid. Min length: 1, Max length: 20")
			}
			m.Buttons = append(m.Buttons, Button{id, title})
		}
		if m.Text == "" || len(m.Buttons) == 0 || len(m.Buttons) > 3 {
			return refuse(http.StatusBadRequest, 131009, "Invalid buttons count. Min allowed buttons: 1, Max allowed buttons: 3")
		}
	case "image", "video", "audio", "document", "sticker":
		id, _ := content["id"].(string)
		f, found := s.media[id]
		if !found {
			return refuse(http.StatusBadRequest, 131053, "Media upload error")
		}
		m.Text, _ = content["caption"].(string)
		m.FileName, _ = content["filename"].(string)
		m.MIME, m.Content = f.kind, f.content
	default:
		return refuse(http.StatusBadRequest, 131051, "Unsupported message type")
	}
	if utf8.RuneCountInString(m.Text) > limit {
		return refuse(http.StatusBadRequest, 100, "Param text['body'] must be at most 4096 characters long.")
	}
	return reply{}
}

// upload takes a file.
func (s *Server) upload(r *http.Request, _ object) reply {
	uploaded, header, err := r.FormFile("file")
	if err != nil || r.FormValue("messaging_product") != "whatsapp" {
		return refuse(http.StatusBadRequest, 100, "The parameter file is required.")
	}
	content, _ := io.ReadAll(uploaded)
	id := s.mint("media-")
	s.media[id] = file{header.Filename, r.FormValue("type"), content}
	return reply{http.StatusOK, object{"id": id}, nil}
}

func (s *Server) about(r *http.Request, _ object) reply {
	id := r.PathValue("id")
	f, found := s.media[id]
	if !found {
		return refuse(http.StatusBadRequest, 100, "Unsupported get request. Object with ID does not exist")
	}
	address := s.URL() + "/whatsapp_business/attachments/" + id
	if f.name == "elsewhere" {
		address = "https://evil.example/" + id
	}
	return reply{http.StatusOK, object{"id": id, "messaging_product": "whatsapp", "url": address, "mime_type": f.kind, "sha256": "x", "file_size": len(f.content)}, nil}
}

func (s *Server) download(r *http.Request, _ object) reply {
	f, found := s.media[r.PathValue("id")]
	if !found {
		return reply{status: http.StatusNotFound, body: object{}}
	}
	return reply{status: http.StatusOK, raw: f.content}
}
