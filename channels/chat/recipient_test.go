package chat_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// addresses is a platform with some chats and people.
type addresses struct{ *plain }

func (addresses) Recipient(_ context.Context, to string) (chat.Recipient, error) {
	return chat.Recipient{Name: strings.TrimLeft(to, "@#"), Person: strings.HasPrefix(to, "@"), Direct: to == "dm"}, nil
}

func (addresses) FindChat(_ context.Context, name string) (*chat.Chat, error) {
	found := map[string]chat.Chat{
		"ops": {ID: "team/c1", Name: "ops"}, "old": {ID: "team/c2", Name: "old", Archived: true},
		"secret": {ID: "team/c3", Name: "secret", Private: true}, "else": {ID: "team/c4", Name: "else"},
	}[name]
	if found.ID == "" {
		return nil, nil
	}
	return &found, nil
}

func (addresses) IsMember(_ context.Context, id, person string) (bool, error) {
	return person == "ana" || person == "ben" && id == "team/c1", nil
}

func (addresses) FindPeople(_ context.Context, name string) ([]chat.Person, error) {
	switch name {
	case "ana", "ben":
		return []chat.Person{{ID: name, Name: name}}, nil
	case "kim":
		return []chat.Person{{ID: "k1", Name: "Kim"}, {ID: "k2", Name: "Kim"}}, nil
	}
	return nil, nil
}

func (addresses) OpenDirect(_ context.Context, person string) (string, error) {
	return "team/dm-" + person, nil
}

func TestResolve(t *testing.T) {
	t.Parallel()
	r := chat.NewResolver(addresses{newPlain()}, chat.Access{Users: []string{"ana"}, Chats: []string{"c1", "c2", "c3"}})
	for _, tt := range []struct{ sender, to, want, err string }{
		{"ana", " #ops ", "team/c1", ""},
		{"ben", "ops", "team/c1", ""},
		{"", "ops", "", "the person asking is not in #ops"},
		{"ben", "#else", "", "the person asking is not in #else"},
		{"ana", "#else", "", "channels.fake.allow_channels does not include c4"},
		{"ana", "#old", "", "#old is archived"},
		{"ben", "#secret", "", "the bot is not in a channel named secret"},
		{"ana", "#secret", "team/c3", ""},
		{"ana", "#nowhere", "", "the bot is not in a channel named nowhere"},
		{"ana", "dm", "", "is a direct message"},
		{"ana", "#", "", "is neither a channel nor a person"},
		{"ben", "@ana", "team/dm-ana", ""},
		{"ana", "@ben", "", "channels.fake.allow_users does not include ben"},
		{"ben", "@ben", "team/dm-ben", ""},
		{"ana", "@kim", "", "several people are called kim; use an ID: k1 (Kim), k2 (Kim)"},
		{"ana", "@eve", "", "no one is called eve"},
	} {
		got, err := r.Resolve(t.Context(), tt.sender, tt.to)
		require.Equal(t, tt.want, got, "%s to %s", tt.sender, tt.to)
		if tt.err == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, tt.err)
		}
	}
	_, err := chat.NewResolver(newPlain(), chat.Access{}).Resolve(t.Context(), "ana", "#ops")
	require.ErrorContains(t, err, "can only be used for replies")
}
