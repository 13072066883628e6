package config

import (
	"strings"
	"time"
)

// Values of Email.IMAPSecurity and Email.SMTPSecurity.
const (
	EmailTLS      = "tls"      // from the first byte
	EmailStartTLS = "starttls" // by a command
	EmailPlain    = "none"     // only for servers on this machine
)

// Email are the settings of the e-mail channel.
type Email struct {
	Enabled      bool          `yaml:"enabled"`
	Address      string        `yaml:"address"` // of the agent
	Name         string        `yaml:"name"`    // beside the address
	Username     string        `yaml:"username"`
	Password     Secret        `yaml:"password"`
	IMAP         string        `yaml:"imap"` // host:port
	IMAPSecurity string        `yaml:"imap_security"`
	SMTP         string        `yaml:"smtp"` // host:port
	SMTPSecurity string        `yaml:"smtp_security"`
	Mailbox      string        `yaml:"mailbox"`      // that is read
	Sent         string        `yaml:"sent"`         // mailbox for copies of replies; empty: the one that the server names
	AllowUsers   []string      `yaml:"allow_users"`  // addresses; "*" for everyone
	AuthservID   string        `yaml:"authserv_id"`  // of the server whose Authentication-Results are believed
	TrustSender  bool          `yaml:"trust_sender"` // the server rejects forged senders
	Pairing      bool          `yaml:"pairing"`      // strangers are answered with a pairing code
	BlindCopy    bool          `yaml:"blind_copy"`   // the agent sends itself a blind copy of each reply
	MarkSeen     bool          `yaml:"mark_seen"`    // accepted mail is marked as read
	HourlyLimit  int           `yaml:"hourly_limit"` // mails accepted from a sender in an hour
	Poll         time.Duration `yaml:"poll"`         // between two looks, should the server not tell
	MaxFileMB    int           `yaml:"max_file_mb"`  // of an attached file
}

func defaultEmail() Email {
	return Email{
		Name: "Holdfast", IMAPSecurity: EmailTLS, SMTPSecurity: EmailStartTLS, Mailbox: "INBOX", AllowUsers: []string{},
		Pairing: true, BlindCopy: true, MarkSeen: true, HourlyLimit: 30, Poll: 5 * time.Minute, MaxFileMB: 20,
	}
}

func (e *Email) fillFrom(env map[string]string) {
	fill(&e.Address, env["EMAIL_ADDRESS"])
	fill(&e.Password, env["EMAIL_PASSWORD"])
}

func (e *Email) check(k *checker) {
	at := "channels.email."
	k.oneOf(at+"imap_security", e.IMAPSecurity, EmailTLS, EmailStartTLS, EmailPlain)
	k.oneOf(at+"smtp_security", e.SMTPSecurity, EmailTLS, EmailStartTLS, EmailPlain)
	k.atLeastOne(at+"hourly_limit", e.HourlyLimit)
	k.atLeastOne(at+"max_file_mb", e.MaxFileMB)
	k.when(e.Poll < time.Second, at+"poll", "must be at least 1s, not %s", e.Poll)
	for _, user := range e.AllowUsers {
		k.when(user != "*" && !strings.Contains(user, "@"), at+"allow_users", `has %q; must be addresses, such as ana@example.org, or "*" for all`, user)
	}
	if !e.Enabled {
		return
	}
	k.when(!strings.Contains(e.Address, "@"), at+"address", "must be the agent's address, here or as EMAIL_ADDRESS; see docs/email.md")
	k.when(e.Password == "", at+"password", "must be set, here or as EMAIL_PASSWORD")
	k.mailServer(at+"imap", e.IMAP, e.IMAPSecurity, "imap.example.org:993")
	k.mailServer(at+"smtp", e.SMTP, e.SMTPSecurity, "smtp.example.org:587")
	k.when(e.AuthservID != "" && e.TrustSender, at+"trust_sender", "must be false with authserv_id: then only what that server checked is believed")
}

// mailServer checks the address of a server. The password must not cross a network in the
// clear.
func (k *checker) mailServer(at, address, security, example string) {
	host, valid := k.hostPort(at, address, example)
	k.when(valid && security == EmailPlain && !loopback(host), at+"_security", "none is for servers on this machine; use tls or starttls for %s", host)
}
