package wechattest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Login is a login by a QR code. Its methods are what a person does with the phone.
type Login struct {
	s      *Server
	ID     string
	known  []string // tokens that the client has
	status string
	digits string // that the phone shows; empty: none are asked for
	user   string
	token  string
}

func (s *Server) getQRCode(w http.ResponseWriter, r *http.Request) {
	var arguments struct {
		Tokens []string `json:"local_token_list"`
	}
	if err := json.NewDecoder(r.Body).Decode(&arguments); err != nil || r.URL.Query().Get("bot_type") != "3" {
		http.Error(w, "invalid arguments", http.StatusBadRequest)
		return
	}
	defer s.act()()
	l := &Login{s: s, ID: "qr-" + s.mint(), known: arguments.Tokens, status: "wait"}
	s.logins[l.ID], s.last = l, l
	answer(w, map[string]any{"qrcode": l.ID, "qrcode_img_content": "https://liteapp.weixin.qq.com/q/" + l.ID})
}

// statusHold is how long a question about a login without news is held.
const statusHold = 10 * time.Second

func (s *Server) getQRStatus(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	l := s.logins[r.URL.Query().Get("qrcode")]
	s.mu.Unlock()
	if l == nil {
		answer(w, map[string]any{"status": "expired"})
		return
	}
	if given := r.URL.Query().Get("verify_code"); given != "" {
		s.check(l, given)
	}
	deadline := time.After(statusHold)
	for {
		changed := s.Change()
		s.mu.Lock()
		status, body := l.status, map[string]any{"status": l.status}
		switch status {
		case "confirmed":
			body["bot_token"], body["ilink_bot_id"], body["ilink_user_id"], body["baseurl"] = l.token, BotID, l.user, s.URL()
		case "scaned_but_redirect":
			u, _ := url.Parse(s.URL())
			body["redirect_host"] = u.Host
			l.status = "scaned"
		}
		s.mu.Unlock()
		if status != "wait" {
			answer(w, body)
			return
		}
		select {
		case <-changed:
		case <-deadline:
			answer(w, body)
			return
		case <-r.Context().Done():
			return
		}
	}
}

// check compares the digits that a client sends with those that the phone shows.
func (s *Server) check(l *Login, given string) {
	defer s.act()()
	if l.status == "need_verifycode" && given == l.digits {
		l.status = "scaned"
	}
}

// Code returns the login of the QR code that was shown last; nil: none was.
func (s *Server) Code() *Login {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

// Scan scans the code.
func (l *Login) Scan() { l.set("scaned") }

// ScanElsewhere scans the code with the account of another data center.
func (l *Login) ScanElsewhere() { l.set("scaned_but_redirect") }

// Expire lets the code expire.
func (l *Login) Expire() { l.set("expired") }

// AskDigits asks for digits.
func (l *Login) AskDigits(digits string) {
	l.s.mu.Lock()
	l.digits = digits
	l.s.mu.Unlock()
	l.set("need_verifycode")
}

// Status is the state that the client is told.
func (l *Login) Status() string {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	return l.status
}

// Confirm logs a person in. A client that has the bot's valid token gets no other.
func (l *Login) Confirm(user string) {
	defer l.s.act()()
	if slices.Contains(l.known, l.s.token) {
		l.status = "binded_redirect"
		return
	}
	l.s.token = "token-" + strings.TrimPrefix(l.ID, "qr-")
	l.status, l.user, l.token = "confirmed", user, l.s.token
}

func (l *Login) set(status string) {
	defer l.s.act()()
	l.status = status
}
