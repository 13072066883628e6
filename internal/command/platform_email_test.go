package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"testing"

	gomail "github.com/emersion/go-message/mail"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/email/emailtest"
	"github.com/holdfast-ai/holdfast/internal/platformtest"
)

// liveEmail is a thread at mail servers with a CA of their own.
func liveEmail(t *testing.T) livePlatform {
	server := emailtest.Start(t)
	said, waits := 0, 0
	return livePlatform{
		promise: platformtest.Exactly,
		environ: []string{
			"HOLDFAST_CHANNELS_EMAIL_ENABLED=true", "EMAIL_ADDRESS=" + emailtest.Agent, "EMAIL_PASSWORD=" + emailtest.Password,
			"HOLDFAST_CHANNELS_EMAIL_IMAP=" + server.IMAP(), "HOLDFAST_CHANNELS_EMAIL_SMTP=" + server.SMTP(),
			"HOLDFAST_CHANNELS_EMAIL_AUTHSERV_ID=" + emailtest.AuthservID, "HOLDFAST_CHANNELS_EMAIL_ALLOW_USERS=*",
			"SSL_CERT_FILE=" + server.CAFile(t),
		},
		ready: func(ctx context.Context) error {
			err := server.AwaitIdle(ctx, waits+1)
			waits = server.Idles()
			return err
		},
		say: func(text string) {
			said++
			server.Say(emailtest.Letter{From: emailtest.Ana, ID: fmt.Sprintf("%d@example.com", said), Refers: []string{"first@example.com"}, Text: text})
		},
		seen: func() (texts []string) {
			for _, m := range server.Sent() {
				texts = append(texts, plainText(t, m.Raw))
			}
			return texts
		},
		backlog: 5,
		inOrder: true,
	}
}

// plainText returns the text of a mail.
func plainText(t *testing.T, raw []byte) string {
	t.Helper()
	mail, err := gomail.CreateReader(bytes.NewReader(raw))
	require.NoError(t, err)
	part, err := mail.NextPart()
	require.NoError(t, err)
	text, err := io.ReadAll(part.Body)
	require.NoError(t, err)
	return string(text)
}
