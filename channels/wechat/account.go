package wechat

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	// lookEvery is how often a login is looked for while there is none.
	lookEvery = 3 * time.Second
	// expiredFor is how long an expired login is left alone before it is tried again.
	expiredFor = time.Hour
	// operatorDelay is the delay of the next attempt while the operator has to log in.
	operatorDelay = 30 * time.Second
)

// Account is a login: a bot that belongs to the person who scanned the code.
type Account struct {
	BotID      string    `json:"bot_id"`
	Token      string    `json:"token"` // secret
	BaseURL    string    `json:"base_url"`
	UserID     string    `json:"user_id"` // of that person; empty: WeChat did not say
	LoggedInAt time.Time `json:"logged_in_at"`
	ExpiredAt  time.Time `json:"expired_at"` // when WeChat refused the token; zero: it did not
}

// Expired reports whether WeChat refused the login lately.
func (a Account) Expired() bool { return !a.ExpiredAt.IsZero() && time.Since(a.ExpiredAt) < expiredFor }

// errLogin is why nothing can be done until somebody logs in.
var (
	errNoLogin      = errors.New("nobody has logged in to WeChat: run `holdfast wechat login`")
	errLoginExpired = errors.New("the WeChat login has expired: run `holdfast wechat login`")
	errOtherLogin   = errors.New("somebody has logged in to WeChat again")
)

// Account returns the stored login; zero if there is none.
func (p *platform) Account(ctx context.Context) (account Account, err error) {
	err = p.notes.read(ctx, noteAccount, &account)
	return account, err
}

// account returns the login for a call. Without one the call waits for the operator.
func (p *platform) account(ctx context.Context) (Account, error) {
	account, err := p.Account(ctx)
	switch {
	case err != nil:
		return account, err
	case account.Token == "":
		err = errNoLogin
	case account.Expired():
		err = errLoginExpired
	default:
		return account, nil
	}
	return account, &remote.Error{Service: Name, Status: http.StatusServiceUnavailable, RetryAfter: operatorDelay, Err: err}
}

// await waits for a login that is not the old one, unless that has been left alone for
// long enough.
func (p *platform) await(ctx context.Context, old Account) (Account, error) {
	for told := false; ; told = true {
		account, err := p.Account(ctx)
		switch {
		case err != nil:
			return account, fmt.Errorf("read the WeChat login: %w", err)
		case account.Token != "" && (account.Token != old.Token || !account.Expired()):
			return account, nil
		case !told && account.Token == "":
			p.o.Logger.Error("nobody has logged in to WeChat, nothing is received or sent: run `holdfast wechat login`")
		case !told:
			p.o.Logger.Error("the WeChat login has expired, nothing is received or sent: run `holdfast wechat login`", "bot", account.BotID)
		}
		if !chat.Sleep(ctx, p.look) {
			return account, ctx.Err()
		}
	}
}

// expire records that WeChat refused a login.
func (p *platform) expire(ctx context.Context, refused Account) error {
	account, err := p.Account(ctx)
	if err != nil || account.Token != refused.Token {
		return err
	}
	account.ExpiredAt = time.Now()
	return p.notes.write(ctx, noteAccount, account)
}

// waiting returns a call's error. If the login has expired, that is recorded and the call
// waits for the operator.
func (p *platform) waiting(ctx context.Context, account Account, err error) error {
	if !errors.Is(err, errLoginExpired) {
		return err
	}
	failed := &remote.Error{Service: Name, Status: http.StatusServiceUnavailable, RetryAfter: operatorDelay, Err: errLoginExpired}
	if err := p.expire(ctx, account); err != nil {
		return errors.Join(failed, err)
	}
	return failed
}
