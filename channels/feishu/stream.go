package feishu

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// maxCards bounds the drafts whose cards are remembered.
const maxCards = 1_000

// cards are the drafts that are streaming cards: cards that exist apart from their message,
// show text as it is typed and can be changed often.
type cards struct {
	refused atomic.Bool // the app may not use them

	mu   sync.Mutex
	byID map[string]*card // by message
}

// card is a streaming card. Changes need rising numbers; they are times, so that another
// process could go on.
type card struct {
	id   string
	mark string // of the element that has the text; empty: none has
	note string
	last int64 // number
}

func (c *cards) of(message string) *card {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byID[message]
}

func (c *cards) put(message string, added *card) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byID == nil || len(c.byID) >= maxCards {
		c.byID = map[string]*card{}
	}
	c.byID[message] = added
}

func (c *cards) drop(message string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.byID, message)
}

func (c *card) next() int64 {
	c.last = max(c.last+1, time.Now().Unix())
	return c.last
}

// took notes what the card shows.
func (c *card) took(msg chat.Message) {
	c.mark, c.note = "", msg.Note
	if msg.Text != "" {
		c.mark = markOf(msg)
	}
}

// postStreaming posts a draft as a streaming card. It returns no ID and no error if the app
// has none: then an ordinary card does.
func (p *platform) postStreaming(ctx context.Context, at chat.Place, msg chat.Message) (string, error) {
	if p.cards.refused.Load() {
		return "", nil
	}
	var answer struct {
		Data struct {
			ID string `json:"card_id"`
		} `json:"data"`
	}
	err := p.call(ctx, request{
		name: "create a card", verb: http.MethodPost, path: "/open-apis/cardkit/v1/cards",
		body: object{"type": "card_json", "data": encoded(streaming(p.cardOf(at, msg, "")))},
	}, &answer)
	if err != nil || answer.Data.ID == "" {
		p.cards.refused.Store(code(err) == codeNoScope)
		return "", nil
	}
	id, err := p.send(ctx, at, msg.Part, body{
		kind: "interactive", key: keyOf(msg), content: encoded(object{"type": "card", "data": object{"card_id": answer.Data.ID}}),
	})
	if err == nil {
		added := &card{id: answer.Data.ID}
		added.took(msg)
		p.cards.put(id, added)
	}
	return id, err
}

func streaming(card object) object {
	config, _ := card["config"].(object)
	config["streaming_mode"] = true
	return card
}

// editStreaming changes a message that is a streaming card of this process. It reports false
// if it is none, or none any more. What becomes the reply is an ordinary card from then on.
func (p *platform) editStreaming(ctx context.Context, at chat.Place, id string, msg chat.Message) (handled bool, err error) {
	c := p.cards.of(id)
	if c == nil {
		return false, nil
	}
	path := "/open-apis/cardkit/v1/cards/" + url.PathEscape(c.id)
	if msg.Draft && c.mark != "" && msg.Text != "" && msg.Note == c.note {
		err = p.changeCard(ctx, path+"/elements/"+url.PathEscape(c.mark)+"/content", object{"content": p.shown(msg), "sequence": c.next()})
	} else {
		shown := p.cardOf(at, msg, "")
		if msg.Draft {
			shown = streaming(shown)
		}
		err = p.changeCard(ctx, path, object{"card": object{"type": "card_json", "data": encoded(shown)}, "sequence": c.next()})
	}
	if err == nil {
		c.took(msg)
	}
	if answered := code(err) != 0 && !codes.Limited[code(err)]; answered || err == nil && !msg.Draft {
		p.cards.drop(id)
		return !answered, err
	}
	return true, err
}

func (p *platform) changeCard(ctx context.Context, path string, change object) error {
	return p.call(ctx, request{name: "change a card", verb: http.MethodPut, path: path, body: change}, nil)
}
