package matrix

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/text"
)

// roomLasts is how long it is remembered whether a room is a direct chat. That somebody
// joined is noticed at once.
const roomLasts = 10 * time.Minute

var (
	personID = regexp.MustCompile(`^@[^:\s]+:\S+$`)
	roomID   = regexp.MustCompile(`^!\S+$`)
	eventID  = regexp.MustCompile(`^(\$\S+)?$`)
)

// room is what is remembered of a room.
type room struct{ direct bool }

// lookAtRoom looks at a room. One that we are not in is no direct chat.
func (p *platform) lookAtRoom(ctx context.Context, id string) (room, error) {
	members, err := p.members(ctx, id)
	if gone(err) {
		return room{}, nil
	}
	return room{direct: len(members) <= 2}, err
}

// members returns who is in a room.
func (p *platform) members(ctx context.Context, id string) (map[string]struct{}, error) {
	var answer struct {
		Joined map[string]struct{} `json:"joined"`
	}
	err := p.call(ctx, request{name: "list members", path: roomPath(id, "joined_members")}, &answer)
	return answer.Joined, err
}

// Who implements [chat.Directory].
func (p *platform) Who(ctx context.Context, id string) (chat.Profile, error) {
	who, err := p.people.Who(ctx, roomOf(id))
	return who, lacking(err)
}

// look looks up the name of a person or a room, which may be anything.
func (p *platform) look(ctx context.Context, id string) (chat.Profile, error) {
	var answer struct {
		Person string `json:"displayname"`
		Room   string `json:"name"`
	}
	person := personID.MatchString(id)
	r := request{name: "look up a name", path: roomPath(id, "state", "m.room.name")}
	if person {
		r.path = "/_matrix/client/v3/profile/" + url.PathEscape(id)
	}
	err := p.call(ctx, r, &answer)
	if gone(err) {
		err = nil // it has none
	}
	return chat.Profile{Name: text.Name(answer.Person + answer.Room), Person: person}, err
}

// lacking returns err, as [chat.Unavailable] if no other attempt succeeds.
func lacking(err error) error {
	if gone(err) {
		return errors.Join(chat.Unavailable(err.Error()), err)
	}
	return err
}

// Recipient implements [chat.Addresses].
func (*platform) Recipient(_ context.Context, to string) (chat.Recipient, error) {
	switch {
	case personID.MatchString(to):
		return chat.Recipient{Name: to, Person: true}, nil
	case roomID.MatchString(to), strings.HasPrefix(to, "#"):
		return chat.Recipient{Name: to}, nil
	}
	return chat.Recipient{}, errors.New("on Matrix, name a person by their ID (@ana:example.org), a room by its address (#ops:example.org) or its ID (!…)")
}

// FindChat implements [chat.Addresses].
func (p *platform) FindChat(ctx context.Context, name string) (*chat.Chat, error) {
	id := name
	if strings.HasPrefix(name, "#") {
		if self, err := p.whoAmI(ctx); err != nil {
			return nil, err
		} else if _, server, _ := strings.Cut(self.ID, ":"); !strings.Contains(name, ":") {
			name += ":" + server
		}
		var answer struct {
			ID string `json:"room_id"`
		}
		err := p.call(ctx, request{name: "look up an address", path: "/_matrix/client/v3/directory/room/" + url.PathEscape(name)}, &answer)
		if gone(err) {
			return nil, nil
		}
		if id = answer.ID; err != nil {
			return nil, err
		}
	}
	members, err := p.members(ctx, id)
	if gone(err) {
		return nil, nil
	}
	found := &chat.Chat{ID: id, Name: name, Private: true}
	if len(members) <= 2 {
		found.ID = directMark + id
	}
	return found, err
}

// IsMember implements [chat.Addresses].
func (p *platform) IsMember(ctx context.Context, chat, person string) (bool, error) {
	members, err := p.members(ctx, chat)
	_, inside := members[person]
	return inside, err
}

// FindPeople implements [chat.Addresses]: by ID only, since names are anybody's choice.
func (*platform) FindPeople(_ context.Context, name string) ([]chat.Person, error) {
	return []chat.Person{{ID: name}}, nil
}

// directRooms is where a homeserver keeps which rooms are direct chats, by person.
type directRooms map[string][]string

// OpenDirect implements [chat.Addresses]: the room that was opened for it before, or a new
// one, to which the person is invited.
func (p *platform) OpenDirect(ctx context.Context, person string) (string, error) {
	self, err := p.whoAmI(ctx)
	if err != nil {
		return "", err
	}
	known := directRooms{}
	account := "/_matrix/client/v3/user/" + url.PathEscape(self.ID) + "/account_data/m.direct"
	if err := p.call(ctx, request{name: "list direct chats", path: account}, &known); err != nil && codeOf(err) != codeNotFound {
		return "", err
	}
	for _, id := range known[person] {
		if open, err := p.isOpen(ctx, id, person); err != nil || open {
			return directMark + id, err
		}
	}
	var made struct {
		ID string `json:"room_id"`
	}
	err = p.call(ctx, request{name: "open a direct chat", method: http.MethodPost, path: "/_matrix/client/v3/createRoom", body: map[string]any{
		"preset": "trusted_private_chat", "is_direct": true, "invite": []string{person},
	}}, &made)
	if gone(err) {
		return "", fmt.Errorf("%s cannot be invited to a direct chat: %w", person, err)
	}
	if err != nil {
		return "", err
	}
	known[person] = append(known[person], made.ID)
	err = p.call(ctx, request{name: "record a direct chat", method: http.MethodPut, path: account, body: known}, nil)
	return directMark + made.ID, err
}

// isOpen reports whether a room is a direct chat with a person who is in it, or may still
// follow our invitation.
func (p *platform) isOpen(ctx context.Context, id, person string) (bool, error) {
	var member struct {
		Membership string `json:"membership"`
	}
	err := p.call(ctx, request{name: "look at a member", path: roomPath(id, "state", typeMember, person)}, &member)
	if err == nil && member.Membership != "join" && member.Membership != "invite" {
		return false, nil
	}
	var members map[string]struct{}
	if err == nil {
		members, err = p.members(ctx, id)
	}
	if gone(err) {
		return false, nil
	}
	return len(members) <= 2, err
}

// Locate implements [channels.Locator].
func (*platform) Locate(_ context.Context, chat, thread string) (string, error) {
	switch {
	case !roomID.MatchString(roomOf(chat)):
		return "", channels.MalformedError{What: "chat", Value: chat, Want: "the ID of a room, such as !abcdefghijklmnop:example.org, after direct/ if a person is alone with the bot in it"}
	case !eventID.MatchString(thread):
		return "", channels.MalformedError{What: "thread", Value: thread, Want: "the ID of the event that began it, such as $abc…"}
	}
	return chat, nil
}
