package email_test

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/email"
	"github.com/holdfast-ai/holdfast/channels/email/emailtest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// echo runs a server that greets, and answers each line of one connection.
func echo(t *testing.T, greeting string, answer func(line string) string) email.Server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = fmt.Fprint(conn, greeting+"\r\n")
		for lines := bufio.NewScanner(conn); lines.Scan(); {
			_, _ = fmt.Fprint(conn, answer(lines.Text())+"\r\n")
		}
	}()
	return email.Server{Address: listener.Addr().String(), Security: email.SecurityNone}
}

func TestPasswordIsNotRepeated(t *testing.T) {
	t.Parallel()
	imap := func(line string) string {
		tag, command, _ := strings.Cut(line, " ")
		return tag + " NO not known: " + command
	}
	smtp := func(line string) string {
		if strings.HasPrefix(line, "EHLO") {
			return "250-localhost\r\n250 AUTH PLAIN"
		}
		return "535 not known: " + line
	}
	t.Run("IMAP", func(t *testing.T) {
		t.Parallel()
		o := open(t, func(o *email.Options) { o.IMAP = echo(t, "* OK [CAPABILITY IMAP4rev1] hello", imap) })
		_, err := o.channel.Identify(o.ctx)
		require.ErrorContains(t, err, "[redacted]")
		require.NotContains(t, err.Error(), emailtest.Password)
	})
	t.Run("SMTP", func(t *testing.T) {
		t.Parallel()
		o := open(t, func(o *email.Options) { o.SMTP = echo(t, "220 localhost hello", smtp) })
		_, err := o.channel.Send(o.ctx, domain.Outbound{ID: "o1", Chat: emailtest.Ana, Text: "hi"})
		require.ErrorContains(t, err, "not known: AUTH PLAIN [redacted]")
	})
}
