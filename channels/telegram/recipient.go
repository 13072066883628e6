package telegram

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
)

var (
	personID = regexp.MustCompile(`^[0-9]{1,18}$`)
	groupID  = regexp.MustCompile(`^-[0-9]{1,18}$`)
)

// groupName matches the name of a public group, which is written like that of a person.
var groupName = regexp.MustCompile(`^[@#]?([A-Za-z][A-Za-z0-9_]{3,31})$`)

// Recipient implements [chat.Addresses].
func (*platform) Recipient(_ context.Context, to string) (chat.Recipient, error) {
	switch name := groupName.FindStringSubmatch(to); {
	case personID.MatchString(to):
		return chat.Recipient{Name: to, Person: true}, nil
	case groupID.MatchString(to):
		return chat.Recipient{Name: to}, nil
	case name != nil:
		return chat.Recipient{Name: "@" + name[1]}, nil
	}
	return chat.Recipient{}, errors.New("on Telegram, name a person or a group by its ID, or a public group by its @name")
}

// FindChat implements [chat.Addresses].
func (p *platform) FindChat(ctx context.Context, name string) (*chat.Chat, error) {
	var found group
	err := p.limited(ctx, "getChat", "", func(ctx context.Context) error {
		return p.call(ctx, "getChat", args{"chat_id": name}, &found)
	})
	switch {
	case errors.Is(err, channels.ErrGone), err == nil && found.Type == "private":
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &chat.Chat{ID: id(found.ID), Name: oneLine(found.Title), Private: name == id(found.ID)}, nil
}

// IsMember implements [chat.Addresses].
func (p *platform) IsMember(ctx context.Context, chat, person string) (bool, error) {
	var member struct {
		Status string `json:"status"`
		Member bool   `json:"is_member"` // of one that is restricted
	}
	err := p.limited(ctx, "getChatMember", "", func(ctx context.Context) error {
		return p.call(ctx, "getChatMember", args{"chat_id": chat, "user_id": person}, &member)
	})
	if errors.Is(err, channels.ErrGone) || says(err, "participant_id_invalid", "user_id_invalid", "member not found") {
		return false, nil
	}
	return slices.Contains([]string{"creator", "administrator", "member"}, member.Status) || member.Member, err
}

// FindPeople implements [chat.Addresses]. Telegram does not let bots look for people.
func (*platform) FindPeople(_ context.Context, name string) ([]chat.Person, error) {
	return []chat.Person{{ID: name}}, nil
}

// OpenDirect implements [chat.Addresses]. Bots cannot write first.
func (p *platform) OpenDirect(ctx context.Context, person string) (string, error) {
	err := p.limited(ctx, "getChat", "", func(ctx context.Context) error {
		return p.call(ctx, "getChat", args{"chat_id": person}, nil)
	})
	if errors.Is(err, channels.ErrGone) {
		return "", fmt.Errorf("%s has not written to the bot, which cannot write first", person)
	}
	return person, err
}

// Locate implements [channels.Locator].
func (*platform) Locate(_ context.Context, chat, thread string) (string, error) {
	switch {
	case !personID.MatchString(chat) && !groupID.MatchString(chat):
		return "", channels.MalformedError{What: "chat", Value: chat, Want: "the ID of a person, such as 123456789, or of a group, such as -1001234567890"}
	case !topicID.MatchString(thread):
		return "", channels.MalformedError{What: "thread", Value: thread, Want: "the ID of a topic, such as 42 (its link ends with it)"}
	}
	return chat, nil
}
