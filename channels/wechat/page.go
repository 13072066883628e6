package wechat

import (
	"context"
	"errors"
	"html/template"
	"net/http"
	"strings"
	"sync"
)

// page is a login by a page: one at a time.
type page struct {
	mu     sync.Mutex
	cancel context.CancelFunc // ends the login; nil: none is under way
	shown  pageState
	digits chan string
}

// pageState is what the page shows.
type pageState struct {
	Code   template.HTML // the QR code
	Link   string        // what it says
	Text   string
	Asks   bool // for the digits that the phone shows
	Active bool // a login is under way
}

var pageTemplate = template.Must(template.New("login").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Holdfast: WeChat</title>{{if and .Active (not .Asks)}}<meta http-equiv="refresh" content="2">{{end}}
<meta name="viewport" content="width=device-width"><style>body{font:16px sans-serif;max-width:32em;margin:3em auto;padding:0 1em}</style></head>
<body><h1>WeChat</h1><p>{{.Text}}</p>
{{if .Code}}<p>{{.Code}}</p><p>Or open this on the phone: <a href="{{.Link}}">{{.Link}}</a></p>{{end}}
<form method="post">{{if .Asks}}<input name="digits" autofocus autocomplete="off" inputmode="numeric"> <button>Send</button>
{{else if not .Active}}<button>Log in</button>{{end}}</form></body></html>
`))

// LoginPage returns the page by which the operator can log in. Whoever serves it must admit
// nobody else.
func (p *platform) LoginPage() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodPost:
			p.login.act(p, strings.TrimSpace(r.PostFormValue("digits"))) //nolint:contextcheck // the login outlives the request
			http.Redirect(w, r, r.URL.Path, http.StatusSeeOther)
		case http.MethodGet:
			header := w.Header()
			header.Set("Content-Type", "text/html; charset=utf-8")
			header.Set("Cache-Control", "no-store")
			header.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'")
			_ = pageTemplate.Execute(w, p.pageState(r.Context())) // an error means that the client is gone
		default:
			http.Error(w, "use GET or POST", http.StatusMethodNotAllowed)
		}
	})
}

func (p *platform) pageState(ctx context.Context) pageState {
	p.login.mu.Lock()
	shown := p.login.shown
	p.login.mu.Unlock()
	if shown.Text != "" {
		return shown
	}
	account, err := p.Account(ctx)
	switch {
	case err != nil:
		shown.Text = "The login cannot be read."
	case account.Token == "":
		shown.Text = "Nobody has logged in."
	case account.Expired():
		shown.Text = "The login of " + account.BotID + " has expired."
	default:
		shown.Text = "Logged in as " + account.BotID + "."
	}
	return shown
}

// act begins a login, or passes on the digits that one asks for.
func (l *page) act(p *platform, digits string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cancel != nil {
		if l.shown.Asks && digits != "" {
			l.shown.Asks, l.shown.Text = false, "Checking the digits."
			l.digits <- digits
		}
		return
	}
	var ctx context.Context
	ctx, l.cancel = context.WithCancel(context.Background())
	l.digits = make(chan string, 1)
	l.shown = pageState{Active: true, Text: "Getting a code."}
	go func() {
		account, err := p.Login(ctx, l)
		text := "Logged in as " + account.BotID + "."
		if err != nil {
			p.o.Logger.Error("login to WeChat failed", "err", err)
			text = "The login failed: " + err.Error()
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.cancel()
		l.cancel, l.shown = nil, pageState{Text: text}
	}()
}

func (l *page) set(change func(*pageState)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(&l.shown)
}

// Show implements [Dialog].
func (l *page) Show(code string) {
	drawn, err := svg(code)
	l.set(func(s *pageState) {
		s.Link, s.Asks, s.Text = code, false, "Scan this code with WeChat on your phone."
		if s.Code = template.HTML(drawn); err != nil { //nolint:gosec // it has nothing but squares
			s.Text = "The code cannot be drawn: open the link on your phone."
		}
	})
}

// Scanned implements [Dialog].
func (l *page) Scanned() {
	l.set(func(s *pageState) { s.Text = "Scanned. Confirm it on the phone." })
}

// Ask implements [Dialog].
func (l *page) Ask(ctx context.Context, again bool) (string, error) {
	l.set(func(s *pageState) {
		s.Asks, s.Text = true, "Enter the digits that the phone shows."
		if again {
			s.Text = "These were not the digits. Enter those that the phone shows."
		}
	})
	select {
	case digits := <-l.digits:
		return digits, nil
	case <-ctx.Done():
		return "", errors.New("nobody entered the digits")
	}
}
