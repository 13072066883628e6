package email

import (
	"context"
	"fmt"
	"regexp"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
)

// textLimit bounds the characters of a mail that we write.
const textLimit = 500_000

// Name implements [chat.Platform].
func (*platform) Name() string { return Name }

// Limits implements [chat.Platform]. Buttons are words to reply with.
func (*platform) Limits() chat.Limits { return chat.Limits{Text: textLimit, Buttons: true} }

// Identify implements [chat.Platform].
func (p *platform) Identify(ctx context.Context) (chat.Self, error) {
	err := p.with(ctx, p.o.Mailbox, func(*mailbox) error { return nil })
	return chat.Self{ID: p.o.Address, Name: p.o.Address}, err
}

// IsDirect implements [chat.Directs].
func (*platform) IsDirect(chat string) bool { return IsDirect(chat) }

var (
	addressForm = regexp.MustCompile(`^[^\s<>"@,;:\\()\[\]\x00-\x1f\x7f]+@[^\s<>"@,;:\\()\[\]\x00-\x1f\x7f]+$`)
	idForm      = regexp.MustCompile(`^[^\s<>\x00-\x1f\x7f]+$`)
)

const maxID = 250 // bytes of a Message-ID

// isID reports whether a text is a Message-ID, without its brackets.
func isID(id string) bool { return len(id) <= maxID && idForm.MatchString(id) }

const addressLimit = 254 // bytes

func isAddress(text string) bool { return len(text) <= addressLimit && addressForm.MatchString(text) }

// Locate implements [channels.Locator].
func (*platform) Locate(_ context.Context, chat, thread string) (string, error) {
	chat = normal(chat)
	switch {
	case !isAddress(chat):
		return "", channels.MalformedError{What: "chat", Value: chat, Want: "an address, such as ana@example.org"}
	case thread != "" && !isID(thread):
		return "", channels.MalformedError{What: "thread", Value: thread, Want: "the Message-ID of the thread's first mail, without < and >"}
	}
	return chat, nil
}

// Recipient implements [chat.Addresses].
func (*platform) Recipient(_ context.Context, to string) (chat.Recipient, error) {
	to = normal(to)
	if !isAddress(to) {
		return chat.Recipient{}, fmt.Errorf("%q is not an address; write one such as ana@example.org", to)
	}
	return chat.Recipient{Name: to, Person: true}, nil
}

// FindChat implements [chat.Addresses]. There are only people.
func (*platform) FindChat(context.Context, string) (*chat.Chat, error) { return nil, nil }

// IsMember implements [chat.Addresses].
func (*platform) IsMember(context.Context, string, string) (bool, error) { return false, nil }

// FindPeople implements [chat.Addresses].
func (*platform) FindPeople(_ context.Context, address string) ([]chat.Person, error) {
	return []chat.Person{{ID: address, Name: address}}, nil
}

// OpenDirect implements [chat.Addresses].
func (*platform) OpenDirect(_ context.Context, address string) (string, error) { return address, nil }
