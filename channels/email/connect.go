package email

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat/web"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	connectTimeout = 30 * time.Second
	// operatorDelay is the pause after an error that the operator has to cure.
	operatorDelay = time.Minute
)

// dial connects to a server, encrypted from the first byte if the server wants that. The
// connection is closed when ctx ends, until release is called.
func (p *platform) dial(ctx context.Context, s Server) (conn net.Conn, release func() bool, err error) {
	dialing, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	dialer := &net.Dialer{}
	if s.Security == SecurityTLS {
		conn, err = (&tls.Dialer{NetDialer: dialer, Config: p.tls(s)}).DialContext(dialing, "tcp", s.Address)
	} else {
		conn, err = dialer.DialContext(dialing, "tcp", s.Address)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("connect to %s: %w", s.Address, err)
	}
	return conn, context.AfterFunc(ctx, func() { _ = conn.Close() }), nil
}

// tls returns how the certificate of a server is checked.
func (p *platform) tls(s Server) *tls.Config {
	c := p.o.TLS.Clone()
	if c == nil {
		c = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if host, _, err := net.SplitHostPort(s.Address); err == nil && c.ServerName == "" {
		c.ServerName = host
	}
	return c
}

// notSent is the error of a call that did not hand over a mail and is worth another
// attempt.
func notSent(err error) error {
	if remote.As(err) != nil {
		return err
	}
	return &remote.Error{Service: Name, Status: http.StatusRequestTimeout, Err: err}
}

// misconfigured is the error of a server that refuses our account.
func misconfigured(what, setting string, err error) error {
	return &remote.Error{
		Service: Name, Status: http.StatusTooManyRequests, RetryAfter: operatorDelay,
		Err: fmt.Errorf("%s: %w; check %s", what, err, setting),
	}
}

// redact returns the error of a login, without the password that the server may repeat.
func (p *platform) redact(err error) error {
	plain := "\x00" + p.o.Username + "\x00" + p.o.Password // as SMTP has it
	return web.RedactError(err, p.o.Password, base64.StdEncoding.EncodeToString([]byte(plain)))
}

// errBusy is returned while all connections for writing are taken and ctx ends.
var errBusy = errors.New("too many connections to the mail server")
