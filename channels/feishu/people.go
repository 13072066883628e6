package feishu

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
)

// Who implements [chat.Directory].
func (p *platform) Who(ctx context.Context, id string) (chat.Profile, error) {
	who, err := p.people.Who(ctx, id)
	return who, lacking(err)
}

// look looks up a person or a chat.
func (p *platform) look(ctx context.Context, id string) (chat.Profile, error) {
	if isID("oc_", id) {
		found, err := p.chat(ctx, id)
		return chat.Profile{Name: found.Name}, err
	}
	var answer struct {
		Data struct {
			User struct {
				Name string `json:"name"`
			} `json:"user"`
		} `json:"data"`
	}
	err := p.call(ctx, request{
		name: "look up a person", path: "/open-apis/contact/v3/users/" + url.PathEscape(id), query: url.Values{"user_id_type": {"open_id"}},
	}, &answer)
	if code(err) == codeNoAuthority {
		return chat.Profile{Person: true}, nil
	}
	return chat.Profile{Name: answer.Data.User.Name, Person: true}, err
}

// group is a group as the API returns it.
type group struct {
	ID     string `json:"chat_id"`
	Name   string `json:"name"`
	Kind   string `json:"chat_type"` // private or public
	Status string `json:"chat_status"`
}

func (p *platform) chat(ctx context.Context, id string) (group, error) {
	var answer struct {
		Data group `json:"data"`
	}
	err := p.call(ctx, request{name: "look up a chat", path: "/open-apis/im/v1/chats/" + url.PathEscape(id)}, &answer)
	return answer.Data, err
}

// Recipient implements [chat.Addresses].
func (*platform) Recipient(_ context.Context, to string) (chat.Recipient, error) {
	name := strings.TrimLeft(to, "@#")
	return chat.Recipient{Name: name, Person: strings.HasPrefix(to, "@") || isID("ou_", name)}, nil
}

// FindChat implements [chat.Addresses].
func (p *platform) FindChat(ctx context.Context, name string) (*chat.Chat, error) {
	if isID("oc_", name) {
		found, err := p.chat(ctx, name)
		if errors.Is(err, channels.ErrGone) {
			return nil, nil
		}
		found.ID = name
		return found.asChat(), err
	}
	var found *chat.Chat
	err := p.pages(ctx, "/open-apis/im/v1/chats", "the bot is in too many groups to look for "+name+"; give its ID", func(g listed) bool {
		if strings.EqualFold(g.Name, name) {
			found = g.asChat()
		}
		return found != nil
	})
	return found, err
}

func (g group) asChat() *chat.Chat {
	return &chat.Chat{ID: g.ID, Name: g.Name, Private: g.Kind != "public", Archived: g.Status != "" && g.Status != "normal"}
}

// IsMember implements [chat.Addresses].
func (p *platform) IsMember(ctx context.Context, chat, person string) (inside bool, err error) {
	err = p.pages(ctx, "/open-apis/im/v1/chats/"+url.PathEscape(chat)+"/members", "the group has too many members to look up the person asking", func(m listed) bool {
		inside = inside || m.Member == person
		return inside
	})
	return inside, err
}

// listed is an item of a list: a group or a member.
type listed struct {
	group
	Member string `json:"member_id"`
}

// pages reads a list until use reports that this is enough. The error of a list that is too
// long is tooLong.
func (p *platform) pages(ctx context.Context, path, tooLong string, use func(listed) bool) error {
	query := url.Values{"page_size": {"100"}, "member_id_type": {"open_id"}}
	for range maxPages {
		var answer struct {
			Data struct {
				Items []listed `json:"items"`
				More  bool     `json:"has_more"`
				Next  string   `json:"page_token"`
			} `json:"data"`
		}
		if err := p.call(ctx, request{name: "list", path: path, query: query}, &answer); err != nil {
			return err
		}
		if slices.ContainsFunc(answer.Data.Items, use) {
			return nil
		}
		if !answer.Data.More || answer.Data.Next == "" {
			return nil
		}
		query.Set("page_token", answer.Data.Next)
	}
	return errors.New(tooLong)
}

// FindPeople implements [chat.Addresses]: by open ID, or by the name of somebody seen.
func (p *platform) FindPeople(_ context.Context, name string) ([]chat.Person, error) {
	if isID("ou_", name) {
		return []chat.Person{{ID: name}}, nil
	}
	if id := p.people.Named(name, true); id != "" {
		return []chat.Person{{ID: id, Name: name}}, nil
	}
	return nil, fmt.Errorf("the bot knows no one called %s; give their open ID", name)
}

// OpenDirect implements [chat.Addresses]: a direct chat is named by the person.
func (*platform) OpenDirect(_ context.Context, person string) (string, error) { return person, nil }

const (
	chatForm   = "the ID of a group, such as oc_a0553eda9014c201e6969b478895c230, or a person's open ID, such as ou_7d8a6e6df7621556ce0d21922b676706"
	threadForm = "the ID of the topic's first message, such as om_dc13264520392913993dd051dba21dcf"
)

// Locate implements [channels.Locator].
func (*platform) Locate(_ context.Context, chat, thread string) (string, error) {
	switch {
	case !isID("oc_", chat) && !isID("ou_", chat):
		return "", channels.MalformedError{What: "chat", Value: chat, Want: chatForm}
	case thread != "" && !isID("om_", thread):
		return "", channels.MalformedError{What: "thread", Value: thread, Want: threadForm}
	}
	return chat, nil
}
