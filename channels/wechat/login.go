package wechat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

const (
	// loginTimeout bounds a login.
	loginTimeout = 8 * time.Minute
	// statusTimeout bounds a question about its state, which WeChat holds for half a minute.
	statusTimeout = 45 * time.Second
	statusPause   = time.Second
	// maxCodes is how many codes are shown before a login is given up.
	maxCodes = 3
	// botType is the kind of bot that a personal account gets.
	botType = "3"
)

// Dialog is the person who logs in.
type Dialog interface {
	// Show shows a new QR code with this content.
	Show(code string)
	// Scanned says that the code was scanned and has to be confirmed on the phone.
	Scanned()
	// Ask returns the digits that the phone shows; again: those given before were wrong.
	Ask(ctx context.Context, again bool) (digits string, err error)
}

// The states of a login.
const (
	loginScanned   = "scaned"
	loginRedirect  = "scaned_but_redirect"
	loginDigits    = "need_verifycode"
	loginBlocked   = "verify_code_blocked"
	loginExpired   = "expired"
	loginBound     = "binded_redirect"
	loginConfirmed = "confirmed"
)

// loginState is what WeChat says about a login.
type loginState struct {
	Status   string `json:"status"`
	Token    string `json:"bot_token"`
	BotID    string `json:"ilink_bot_id"`
	BaseURL  string `json:"baseurl"`
	UserID   string `json:"ilink_user_id"`
	Redirect string `json:"redirect_host"`
}

// Login logs in, stores the login for all processes and lets the person in.
func (p *platform) Login(ctx context.Context, d Dialog) (Account, error) {
	ctx, cancel := context.WithTimeout(ctx, loginTimeout)
	defer cancel()
	known, err := p.Account(ctx)
	if err != nil {
		return known, err
	}
	account, err := p.authenticate(ctx, d, known)
	if err != nil {
		return account, err
	}
	if err := p.notes.write(ctx, noteAccount, account); err != nil {
		return account, fmt.Errorf("store the login: %w", err)
	}
	if account.UserID == "" {
		return account, nil
	}
	if err := p.notes.store.Admit(ctx, Name, account.UserID, "the owner of the login"); err != nil {
		return account, fmt.Errorf("let %s in: %w", account.UserID, err)
	}
	return account, nil
}

// authenticate shows codes until one was confirmed.
func (p *platform) authenticate(ctx context.Context, d Dialog, known Account) (Account, error) {
	for range maxCodes {
		var code struct {
			ID      string `json:"qrcode"`
			Content string `json:"qrcode_img_content"`
		}
		arguments := map[string]any{"local_token_list": []string{}}
		if known.Token != "" {
			arguments["local_token_list"] = []string{known.Token}
		}
		if err := p.client.call(ctx, Account{BaseURL: p.o.APIURL}, "get_bot_qrcode?bot_type="+botType, arguments, &code); err != nil {
			return Account{}, fmt.Errorf("get a QR code: %w", err)
		}
		if code.ID == "" || code.Content == "" {
			return Account{}, errors.New("get a QR code: the answer has none")
		}
		d.Show(code.Content)
		state, err := p.follow(ctx, d, code.ID)
		if err != nil {
			return Account{}, err
		}
		switch state.Status {
		case loginConfirmed:
			return p.accountOf(state)
		case loginBound:
			if known.Token == "" {
				return Account{}, errors.New("WeChat says that this bot is connected already, but its login is not stored here: remove the bot in WeChat and log in again")
			}
			known.ExpiredAt = time.Time{}
			return known, nil
		}
	}
	return Account{}, fmt.Errorf("%d codes have expired without a login", maxCodes)
}

// follow asks for the state of a code until it is final. What goes wrong in between is
// asked again.
func (p *platform) follow(ctx context.Context, d Dialog, code string) (loginState, error) {
	base, digits, scanned := p.o.APIURL, "", false
	for {
		state, err := p.status(ctx, base, code, digits)
		if err != nil {
			p.o.Logger.Warn("the state of the login is unknown, will ask again", "err", err)
		}
		switch state.Status {
		case loginConfirmed, loginBound, loginExpired, loginBlocked:
			return state, nil
		case loginScanned:
			if !scanned {
				d.Scanned()
			}
			scanned, digits = true, ""
		case loginDigits:
			if digits, err = d.Ask(ctx, digits != ""); err != nil {
				return state, fmt.Errorf("ask for the digits: %w", err)
			}
			continue
		case loginRedirect:
			if to := sibling(p.o.APIURL, state.Redirect); p.o.trusts(to) {
				base = to
			}
		}
		if !chat.Sleep(ctx, statusPause) {
			return state, fmt.Errorf("nobody logged in: %w", ctx.Err())
		}
	}
}

func (p *platform) status(ctx context.Context, base, code, digits string) (state loginState, err error) {
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	query := url.Values{"qrcode": {code}}
	if digits != "" {
		query.Set("verify_code", digits)
	}
	err = p.client.get(ctx, base, "get_qrcode_status", query, &state)
	return state, err
}

// sibling returns the address of another host of the same service.
func sibling(base, host string) string {
	scheme, _, _ := strings.Cut(base, "://")
	return scheme + "://" + host
}

// accountOf returns the login that was confirmed.
func (p *platform) accountOf(state loginState) (Account, error) {
	account := Account{
		BotID: state.BotID, Token: state.Token, BaseURL: cmp.Or(state.BaseURL, p.o.APIURL), UserID: state.UserID, LoggedInAt: time.Now(),
	}
	switch {
	case account.BotID == "" || account.Token == "":
		return Account{}, errors.New("WeChat confirmed the login without a bot")
	case !p.o.trusts(account.BaseURL):
		return Account{}, fmt.Errorf("WeChat named %s as its address, which is not one of its own", account.BaseURL)
	}
	return account, nil
}
