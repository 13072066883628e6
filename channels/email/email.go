// Package email is the e-mail channel: it reads a mailbox over IMAP and answers over SMTP.
//
// A conversation is a thread with one person: the chat is their address, the thread the
// Message-ID of the mail that began it. Others who take part in the thread have
// conversations of their own, so nobody is shown what they were not sent.
//
// Mail stays in the mailbox. How far it was read is kept as a cursor, which moves only
// after the inbox accepted everything before it. A mail's Message-ID is its key: mail that
// is read again, as after a server numbered its mailbox anew, is recognized.
//
// A mail that we send has a Message-ID made of [chat.Message.Key]. If the answer of the
// server is lost, the mail is looked for by it: in the mailbox for sent mail, and among the
// blind copies that the agent sends itself in the same transaction.
package email

import (
	"cmp"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
)

// Channel is the channel of one mailbox: a [channels.Receiver], [channels.Sender],
// [channels.Finder], [channels.Enricher], [channels.RecipientResolver] and
// [channels.Locator]. Safe for concurrent use; only Run is for one caller at a time.
type Channel struct {
	*platform
	*chat.Channel
}

// platform is a mailbox as a [chat.Platform].
type platform struct {
	o        Options
	log      *slog.Logger
	slots    chan struct{} // taken by connections of writers
	sent     sentMailbox
	received *hourly // mails by sender
	told     *hourly // notices to people
	// greylisting is the pause after a temporary refusal, as servers expect it.
	greylisting time.Duration
}

const (
	maxConnections = 4  // for writing: servers allow an account ten or so
	maxNotices     = 20 // to people, in an hour
)

// New returns a channel. It does not connect yet.
func New(o Options) (*Channel, error) {
	o.Address = normal(o.Address)
	switch {
	case !isAddress(o.Address):
		return nil, errors.New("channels.email.address must be the agent's address, such as agent@example.org")
	case o.Password == "":
		return nil, errors.New("channels.email.password is not set, here or as EMAIL_PASSWORD")
	}
	for i, user := range o.AllowUsers {
		o.AllowUsers[i] = normal(user)
	}
	o.Username, o.Mailbox = cmp.Or(o.Username, o.Address), cmp.Or(o.Mailbox, "INBOX")
	o.Settle, o.Poll = cmp.Or(o.Settle, 15*time.Second), cmp.Or(o.Poll, 5*time.Minute)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	p := &platform{
		o: o, log: o.Logger, slots: make(chan struct{}, maxConnections),
		greylisting: time.Minute,
		received:    newHourly(cmp.Or(o.HourlyLimit, 30)), told: newHourly(maxNotices),
	}
	access := chat.Access{Users: o.AllowUsers, Chats: []string{channels.Anyone}}
	return &Channel{platform: p, Channel: chat.New(p, chat.Options{
		ReceiverOptions: chat.ReceiverOptions{Access: access, Respond: chat.RespondAll, CommandPrefix: "/", Logger: o.Logger},
		FileLimit:       o.FileLimit,
	})}, nil
}

// IsDirect reports whether a chat is with one person, as all are.
func IsDirect(string) bool { return true }

// normal returns an address as it is compared.
func normal(address string) string { return strings.ToLower(strings.TrimSpace(address)) }
