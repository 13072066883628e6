package wechat_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
	"github.com/holdfast-ai/holdfast/channels/wechat"
	"github.com/holdfast-ai/holdfast/channels/wechat/wechattest"
)

// dialog is a person at a terminal.
type dialog struct {
	digits []string
	s      *setup

	mu      sync.Mutex
	codes   []string
	scanned int
	asked   []bool
}

func (d *dialog) Show(code string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.codes = append(d.codes, code)
	d.s.Changed()
}

func (d *dialog) Scanned() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.scanned++
	d.s.Changed()
}

func (d *dialog) Ask(_ context.Context, again bool) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, again)
	next := d.digits[0]
	d.digits = d.digits[1:]
	return next, nil
}

func (d *dialog) shown() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.codes)
}

// logInBy logs in with a phone.
func (s *setup) logInBy(user string) wechat.Account {
	s.t.Helper()
	d := &dialog{s: s}
	go func() {
		if s.Await(s.ctx, func() bool { return d.shown() == 1 }) == nil {
			s.Code().Confirm(user)
		}
	}()
	account, err := s.channel.Login(s.ctx, d)
	require.NoError(s.t, err)
	return account
}

func TestLogin(t *testing.T) {
	t.Parallel()
	s := openAt(t, wechattest.Start(t), channeltest.NewBackend(nil), nil)
	s.Expire()
	d := &dialog{s: s, digits: []string{"11", "42"}}
	done := make(chan error, 1)
	go func() {
		_, err := s.channel.Login(s.ctx, d)
		done <- err
	}()
	s.await(func() bool { return d.shown() == 1 })
	s.Fail(wechattest.QRStatus, 1, faulty.Fault{Status: http.StatusBadGateway})
	s.Code().Expire()
	s.await(func() bool { return d.shown() == 2 })
	require.Equal(t, "https://liteapp.weixin.qq.com/q/"+s.Code().ID, d.codes[1])
	s.Code().AskDigits("42")
	s.await(func() bool { return s.Code().Status() == "scaned" })
	s.Code().ScanElsewhere()
	s.await(func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.scanned == 1
	})
	s.Code().Confirm(wechattest.Ana)
	require.NoError(t, <-done)
	require.Equal(t, []bool{false, true}, d.asked)
	account, err := s.channel.Account(s.ctx)
	require.NoError(t, err)
	require.Equal(t, s.Token(), account.Token)
	require.Equal(t, s.URL(), account.BaseURL)
	require.Equal(t, wechattest.BotID, account.BotID)
	admitted, err := s.backend.Paired(s.ctx, wechat.Name, wechattest.Ana)
	require.NoError(t, err)
	require.True(t, admitted, "the person who logged in")

	require.Equal(t, account.Token, s.logInBy(wechattest.Ana).Token, "the bot was bound already")
	require.False(t, s.log.has(account.Token))
}

func TestQR(t *testing.T) {
	t.Parallel()
	drawn, err := wechat.QR("https://liteapp.weixin.qq.com/q/qr-1")
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSuffix(drawn, "\n"), "\n")
	width := len([]rune(lines[0]))
	require.Equal(t, (width+1)/2, len(lines))
	for _, line := range lines {
		require.Len(t, []rune(line), width)
	}
	require.Equal(t, strings.Repeat("█", width), lines[0], "it has a light border")
	require.Contains(t, lines[1], "██ ▄▄▄▄▄ █", "its corners are those of a QR code")
	_, err = wechat.QR(strings.Repeat("x", 5000))
	require.Error(t, err)
}

func TestLoginByAPage(t *testing.T) {
	t.Parallel()
	s := openAt(t, wechattest.Start(t), channeltest.NewBackend(nil), nil)
	s.Expire()
	page := httptest.NewServer(s.channel.LoginPage())
	t.Cleanup(page.Close)
	get := func() string {
		response, err := http.Get(page.URL)
		require.NoError(t, err)
		defer response.Body.Close()
		require.Equal(t, "no-store", response.Header.Get("Cache-Control"))
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		return string(body)
	}
	post := func(values url.Values) {
		response, err := http.PostForm(page.URL, values)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
	}
	shows := func(text string) func() bool { return func() bool { return strings.Contains(get(), text) } }

	require.Contains(t, get(), "Nobody has logged in.")
	post(nil)
	require.Eventually(t, shows("<svg"), deadline, tick)
	s.Code().AskDigits("42")
	require.Eventually(t, shows("Enter the digits"), deadline, tick)
	post(url.Values{"digits": {"42"}})
	require.Eventually(t, shows("Confirm it on the phone"), deadline, tick)
	s.Code().Confirm(wechattest.Ana)
	require.Eventually(t, shows("Logged in as "+wechattest.BotID), deadline, tick)
	require.NotContains(t, get(), s.Token())
}
