package email

import (
	"context"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// Words implements [chat.Worded].
func (*platform) Words() chat.Words {
	return chat.Words{FindPerson: "an ID is an address, such as ana@example.org"}
}

// Check implements [chat.Checker]. It sends no mail.
func (p *platform) Check(ctx context.Context) []chat.Finding {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	return []chat.Finding{p.checkIMAP(ctx), p.checkSMTP(ctx), p.checkTrust()}
}

func (p *platform) checkIMAP(ctx context.Context) chat.Finding {
	var sent string
	var idle bool
	err := p.with(ctx, p.o.Mailbox, func(m *mailbox) (err error) {
		idle = hasIdle(m)
		sent, err = p.sentName(m)
		return err
	})
	switch {
	case err != nil:
		return chat.Failed("check channels.email.imap, imap_security, username and password (EMAIL_PASSWORD); some providers want an app password",
			"%s cannot be read: %v", p.o.Mailbox, err)
	case sent == "":
		return chat.Warned("nothing has to be done: the mailbox Sent is created with the first reply", "%s has no mailbox for sent mail", p.o.IMAP.Address)
	case !idle:
		return chat.Warned("nothing has to be done: it is asked every minute", "%s cannot tell when mail comes", p.o.IMAP.Address)
	}
	return chat.Passed("%s can be read at %s as %s; copies of replies go to %s", p.o.Mailbox, p.o.IMAP.Address, p.o.Username, sent)
}

func (p *platform) checkSMTP(ctx context.Context) chat.Finding {
	client, err := p.connectSMTP(ctx)
	if err != nil {
		return chat.Failed("check channels.email.smtp, smtp_security, username and password (EMAIL_PASSWORD)", "mail cannot be sent: %v", err)
	}
	_ = client.Quit() // all that was asked is answered
	return chat.Passed("mail can be sent through %s", p.o.SMTP.Address)
}

func (p *platform) checkTrust() chat.Finding {
	switch {
	case p.o.AuthservID != "":
		return chat.Passed("senders are believed if %s found that SPF, DKIM or DMARC passed", p.o.AuthservID)
	case p.o.TrustSender:
		return chat.Warned("set channels.email.authserv_id to the first word of the field Authentication-Results in a mail that you got",
			"every sender is believed (trust_sender): the mail server has to reject forged ones")
	}
	return chat.Failed("set channels.email.authserv_id to the first word of the field Authentication-Results in a mail that you got",
		"nobody is answered: anybody can write any sender into a mail, and it is not set whose check of that is believed")
}
