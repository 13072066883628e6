package email

import (
	"crypto/tls"
	"log/slog"
	"time"
)

// Name is the channel's name.
const Name = "email"

// How a connection to a server is encrypted.
const (
	SecurityTLS      = "tls"      // from the first byte
	SecurityStartTLS = "starttls" // by a command; never without
	SecurityNone     = "none"     // not at all: for servers on this machine
)

// Server is where a mail server is reached.
type Server struct {
	Address  string // host:port
	Security string // such as [SecurityTLS]
}

// Options are the settings of the channel. See config.Email for what they mean.
type Options struct {
	Address    string // the agent's own
	Name       string // shown beside the address
	Username   string // empty: Address
	Password   string
	IMAP, SMTP Server
	Mailbox    string // that is read, such as INBOX
	Sent       string // mailbox for copies of what was sent; empty: the one that the server names
	AllowUsers []string

	AuthservID  string // of the server whose Authentication-Results are trusted; empty: of none
	TrustSender bool   // the mail server rejects forged senders
	Pairing     bool   // strangers are answered with a pairing code
	BlindCopy   bool   // the agent gets a copy of each mail that it sends
	MarkSeen    bool   // accepted mail is marked as read
	HourlyLimit int    // mails of a sender that are accepted in an hour
	Poll        time.Duration
	FileLimit   int64 // bytes of an attached file
	Logger      *slog.Logger

	TLS    *tls.Config   // nil: the system's CAs
	Settle time.Duration // how long a mail may take to reach our own mailbox; 0: the default
}
