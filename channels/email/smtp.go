package email

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/smtp"
	"net/textproto"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// sendTimeout bounds the sending of a mail.
const sendTimeout = time.Minute

// submit sends a mail. The error has the status 0 if the mail may have been sent.
func (p *platform) submit(ctx context.Context, to string, content []byte) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	client, err := p.connectSMTP(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	if err := client.Mail(p.o.Address); err != nil {
		if code(err) >= 500 {
			return misconfigured("the SMTP server does not let us send", "channels.email.address", err)
		}
		return p.refused("send", err)
	}
	if err := client.Rcpt(to); err != nil {
		if code(err) >= 500 {
			return &remote.Error{Service: Name, Status: http.StatusBadRequest, Err: fmt.Errorf("%w: %s: %w", channels.ErrGone, to, err)}
		}
		return p.refused("send to "+to, err)
	}
	if p.o.BlindCopy && to != p.o.Address {
		if err := client.Rcpt(p.o.Address); err != nil {
			p.log.Warn("no blind copy is sent: if an answer of the server is lost, the mail may be sent twice", "err", err)
		}
	}
	return p.deliver(client, content)
}

// deliver hands over the content of a mail.
func (p *platform) deliver(client *smtp.Client, content []byte) error {
	data, err := client.Data()
	if err != nil {
		return p.refused("send", err)
	}
	if _, err := data.Write(content); err != nil {
		return notSent(fmt.Errorf("send: %w", err)) // without its end it is not delivered
	}
	switch err := data.Close(); {
	case err == nil:
		_ = client.Quit() // the mail is the server's now
		return nil
	case code(err) != 0:
		return p.refused("send", err)
	default:
		return &remote.Error{Service: Name, Err: fmt.Errorf("send: no answer from the SMTP server: %w", err)}
	}
}

// connectSMTP returns a connection on which we are logged in.
func (p *platform) connectSMTP(ctx context.Context) (*smtp.Client, error) {
	server := p.o.SMTP
	conn, _, err := p.dial(ctx, server)
	if err != nil {
		return nil, notSent(err)
	}
	if end, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(end) // the connection is closed then anyway
	}
	host, _, _ := net.SplitHostPort(server.Address) // it was dialed
	client, err := smtp.NewClient(conn, host)
	if err != nil {
		_ = conn.Close()
		return nil, notSent(fmt.Errorf("connect to the SMTP server: %w", err))
	}
	if err := p.logIn(client, host); err != nil {
		_ = client.Close()
		return nil, err
	}
	return client, nil
}

func (p *platform) logIn(client *smtp.Client, host string) error {
	if err := client.Hello("[127.0.0.1]"); err != nil {
		return notSent(fmt.Errorf("greet the SMTP server: %w", err))
	}
	if p.o.SMTP.Security == SecurityStartTLS {
		if err := client.StartTLS(p.tls(p.o.SMTP)); err != nil {
			return notSent(fmt.Errorf("encrypt the connection to %s: %w", p.o.SMTP.Address, err))
		}
	}
	if offered, _ := client.Extension("AUTH"); !offered {
		return nil // a server that trusts this machine
	}
	err := client.Auth(smtp.PlainAuth("", p.o.Username, p.o.Password, host))
	switch {
	case code(err) >= 500:
		return misconfigured("log in to the SMTP server", "channels.email.username and password", p.redact(err))
	case err != nil:
		return notSent(fmt.Errorf("log in to the SMTP server: %w", p.redact(err)))
	}
	return nil
}

// code returns the code of the server's answer; 0: it did not answer.
func code(err error) int {
	if answer, ok := errors.AsType[*textproto.Error](err); ok {
		return answer.Code
	}
	return 0
}

// refused is the error of a mail that the server did not take.
func (p *platform) refused(what string, err error) error {
	failed := &remote.Error{Service: Name, Status: http.StatusBadRequest, Err: fmt.Errorf("%s: %w", what, err)}
	switch c := code(err); {
	case c == 0:
		return notSent(failed.Err)
	case c < 500:
		failed.Status, failed.RetryAfter = http.StatusTooManyRequests, p.greylisting
	}
	return failed
}
