package mattermost

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
)

// Who implements [chat.Directory].
func (p *platform) Who(ctx context.Context, id string) (chat.Profile, error) {
	if !isID.MatchString(id) {
		return chat.Profile{}, nil
	}
	return p.people.Who(ctx, id)
}

// lookUp returns a person by ID; empty if there is none.
func (p *platform) lookUp(ctx context.Context, id string) (chat.Profile, error) {
	found, err := p.users(ctx, []string{id})
	if err != nil || len(found) == 0 {
		return chat.Profile{}, err
	}
	return found[0].profile(), nil
}

func (u user) profile() chat.Profile {
	return chat.Profile{Name: u.name(), Zone: u.zone(), Person: true}
}

func (p *platform) users(ctx context.Context, ids []string) (found []user, err error) {
	err = p.call(ctx, http.MethodPost, "/users/ids", ids, &found)
	return found, err
}

// meet looks up the authors of posts in one call. Those it misses are looked up one by one.
func (p *platform) meet(ctx context.Context, posts []*post) {
	var ids []string
	for _, post := range posts {
		if !slices.Contains(ids, post.UserID) {
			ids = append(ids, post.UserID)
		}
	}
	if len(ids) < 2 {
		return
	}
	found, err := p.users(ctx, ids[:min(len(ids), pageSize)])
	if err != nil {
		p.o.Logger.Debug("authors not looked up", "err", err)
	}
	for _, u := range found {
		p.people.Put(u.ID, u.profile())
	}
}

func (p *platform) fetchChannel(ctx context.Context, id string) (c channel, err error) {
	err = p.call(ctx, http.MethodGet, "/channels/"+id, nil, &c)
	return c, err
}

// Includes implements [chat.Roster]: everyone means the members of our teams, without guests.
func (p *platform) Includes(ctx context.Context, entry, person string) (bool, error) {
	if entry != channels.Anyone || !isID.MatchString(person) {
		return false, nil
	}
	return p.members.Get(ctx, person)
}

func (p *platform) sharesTeam(ctx context.Context, person string) (bool, error) {
	teams, err := p.teams(ctx)
	if err != nil {
		return false, err
	}
	for _, t := range teams {
		var member struct {
			DeleteAt int64 `json:"delete_at"`
			Guest    bool  `json:"scheme_guest"`
		}
		err := p.call(ctx, http.MethodGet, "/teams/"+t.ID+"/members/"+person, nil, &member)
		switch {
		case err == nil && member.DeleteAt == 0 && !member.Guest:
			return true, nil
		case err != nil && !isMissing(err):
			return false, err
		}
	}
	return false, nil
}

// team is a team that we are in.
type team struct {
	ID   string `json:"id"`
	Name string `json:"display_name"`
}

func (p *platform) teams(ctx context.Context) (all []team, err error) {
	err = p.call(ctx, http.MethodGet, "/users/me/teams", nil, &all)
	return all, err
}

// Recipient implements [chat.Addresses]. An ID without a sign is that of a channel.
func (*platform) Recipient(_ context.Context, to string) (chat.Recipient, error) {
	return chat.Recipient{Name: strings.TrimLeft(to, "@#~"), Person: strings.HasPrefix(to, "@"), Direct: IsDirect(to)}, nil
}

// FindChat implements [chat.Addresses].
func (p *platform) FindChat(ctx context.Context, name string) (*chat.Chat, error) {
	var ours []channel
	if err := p.call(ctx, http.MethodGet, "/users/me/channels", nil, &ours); err != nil {
		return nil, err
	}
	var found []channel
	for _, c := range ours {
		called := c.ID == name || strings.EqualFold(c.Name, name) || strings.EqualFold(c.DisplayName, name)
		if called && c.Type != typeDirect && (c.Type != typeGroup || c.ID == name) {
			found = append(found, c)
		}
	}
	switch len(found) {
	case 0:
		return nil, nil
	case 1:
		c := found[0]
		return &chat.Chat{ID: c.ID, Name: c.Name, Private: c.Type == typePrivate || c.Type == typeGroup, Archived: c.DeleteAt > 0}, nil
	}
	return nil, fmt.Errorf("several channels are called %s; use the ID of one", name)
}

// IsMember implements [chat.Addresses].
func (p *platform) IsMember(ctx context.Context, in, person string) (bool, error) {
	err := p.call(ctx, http.MethodGet, "/channels/"+in+"/members/"+url.PathEscape(person), nil, nil)
	if isMissing(err) {
		return false, nil
	}
	return err == nil, err
}

// FindPeople implements [chat.Addresses].
func (p *platform) FindPeople(ctx context.Context, name string) ([]chat.Person, error) {
	if isID.MatchString(name) {
		return []chat.Person{{ID: name}}, nil
	}
	var found user
	err := p.call(ctx, http.MethodGet, "/users/username/"+url.PathEscape(strings.ToLower(name)), nil, &found)
	if isMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return []chat.Person{{ID: found.ID, Name: found.name()}}, nil
}

// OpenDirect implements [chat.Addresses].
func (p *platform) OpenDirect(ctx context.Context, person string) (string, error) {
	self, err := p.identify(ctx)
	if err != nil {
		return "", err
	}
	var direct channel
	err = p.call(ctx, http.MethodPost, "/channels/direct", []string{self.ID, person}, &direct)
	if isMissing(err) {
		return "", fmt.Errorf("there is no one to write to with the ID %s", person)
	}
	return directMark + direct.ID, err
}

const idForm = "an ID of 26 letters and digits"

// Locate implements [channels.Locator]. It asks the server whether a chat is with one person.
func (p *platform) Locate(ctx context.Context, in, thread string) (string, error) {
	id := channelOf(in)
	if !isID.MatchString(id) {
		return "", channels.MalformedError{What: "chat", Value: in, Want: idForm + " (at the bottom of a channel's View Info)"}
	}
	if thread != "" && !isID.MatchString(thread) {
		return "", channels.MalformedError{What: "thread", Value: thread, Want: idForm + ", of the thread's first post (at the end of its link)"}
	}
	if IsDirect(in) {
		return in, nil
	}
	c, err := p.channels.Get(ctx, id)
	if err != nil {
		return "", fmt.Errorf("look up the channel %s: %w", id, err)
	}
	return c.chat(), nil
}
