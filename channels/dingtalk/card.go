package dingtalk

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// cardsLast is how long a card is recognized by its ID: it is ours, and stays with the card.
const cardsLast = 30 * 24 * time.Hour

// The states of a card, for templates that show them.
const (
	cardWriting  = "2"
	cardFinished = "3"
)

// cards is a platform whose messages are cards.
type cards struct{ *platform }

// KeyLasts implements [chat.Keyed].
func (cards) KeyLasts() time.Duration { return cardsLast }

// Limits implements [chat.Platform]. Only cards that are remembered can have buttons.
func (c cards) Limits() chat.Limits {
	limits := c.platform.Limits()
	limits.Buttons = true
	return limits
}

// Post implements [chat.Platform]. Its ID at DingTalk is the message's key.
func (c cards) Post(ctx context.Context, at chat.Place, msg chat.Message) (string, error) {
	if msg.File != "" {
		return c.platform.Post(ctx, at, msg)
	}
	id := msg.Key()
	if msg.ID == "" {
		id = rand.Text()
	}
	if err := c.remember(ctx, id, at, msg); err != nil {
		return "", err
	}
	arguments := map[string]any{
		"outTrackId": id, "cardTemplateId": c.o.CardTemplate, "callbackType": "STREAM", "userIdType": 1,
		"cardData":              map[string]any{"cardParamMap": c.variables(msg)},
		"imGroupOpenSpaceModel": map[string]any{"supportForward": true}, "imRobotOpenSpaceModel": map[string]any{"supportForward": true},
	}
	if IsDirect(at.Chat) {
		arguments["openSpaceId"], arguments["imRobotOpenDeliverModel"] = "dtv1.card//IM_ROBOT."+at.Chat, map[string]any{"spaceType": "IM_ROBOT"}
	} else {
		arguments["openSpaceId"], arguments["imGroupOpenDeliverModel"] = "dtv1.card//IM_GROUP."+at.Chat, map[string]any{"robotCode": c.o.RobotCode}
	}
	var created struct {
		Result struct {
			Deliveries []struct {
				Success bool   `json:"success"`
				Error   string `json:"errorMsg"`
			} `json:"deliverResults"`
		} `json:"result"`
	}
	err := c.api(ctx, http.MethodPost, "/v1.0/card/instances/createAndDeliver", at.Chat, arguments, &created)
	if errors.Is(err, errExists) { // an earlier attempt's
		return id, nil
	}
	for _, delivery := range created.Result.Deliveries {
		if err == nil && !delivery.Success {
			err = &remote.Error{Service: Name, Status: http.StatusBadRequest, Err: fmt.Errorf("the card was not delivered: %s", delivery.Error)}
		}
	}
	return id, err
}

// variables are what a template shows. Those that it does not have are ignored.
func (c cards) variables(msg chat.Message) map[string]string {
	variables := map[string]string{c.o.CardKey: c.textOf(msg), "flowStatus": cardFinished, "question": ""}
	if msg.Draft {
		variables["flowStatus"] = cardWriting
	}
	if len(msg.Buttons) > 0 && msg.Approval != "" {
		variables["question"] = msg.Approval
	}
	return variables
}

// textOf returns the text of a message with its note. A question also says how to answer in
// words, as its template may have no buttons.
func (c cards) textOf(msg chat.Message) string {
	parts := []string{render(msg.Text)}
	if len(msg.Buttons) > 0 && msg.Approval != "" {
		parts = append(parts, "Answer `yes` or `no`, or `/approve "+msg.Approval+"` or `/deny "+msg.Approval+"`.")
	}
	if msg.Note != "" {
		parts = append(parts, "> "+msg.Note)
	}
	if parts[0] == "" {
		parts = parts[1:]
	}
	return strings.Join(parts, "\n\n")
}

// Edit implements [chat.Editor]. A draft is streamed; what is final replaces all of it.
func (c cards) Edit(ctx context.Context, at chat.Place, id string, msg chat.Message) error {
	err := c.api(ctx, http.MethodPut, "/v1.0/card/streaming", at.Chat, map[string]any{
		"outTrackId": id, "guid": rand.Text(), "key": c.o.CardKey, "content": c.textOf(msg), "isFull": true, "isFinalize": !msg.Draft, "isError": false,
	}, new(any))
	if failed := remote.As(err); !msg.Draft && (err == nil || failed != nil && failed.Status >= http.StatusBadRequest && failed.Status != http.StatusTooManyRequests) {
		err = c.update(ctx, at, id, c.variables(msg)) // also where the template's variable cannot be streamed
	}
	if errors.Is(err, errNoCard) {
		return fmt.Errorf("%w: %w", chat.ErrNoMessage, err)
	}
	return err
}

func (c cards) update(ctx context.Context, at chat.Place, id string, variables map[string]string) error {
	return c.api(ctx, http.MethodPut, "/v1.0/card/instances", at.Chat, map[string]any{
		"outTrackId": id, "cardData": map[string]any{"cardParamMap": variables}, "cardUpdateOptions": map[string]any{"updateCardDataByKey": true},
	}, new(any))
}

// Delete implements [chat.Editor]. Cards cannot be deleted, so it is emptied.
func (c cards) Delete(ctx context.Context, at chat.Place, id string) error {
	err := c.update(ctx, at, id, map[string]string{c.o.CardKey: "…", "flowStatus": cardFinished, "question": ""})
	if errors.Is(err, errNoCard) {
		return nil
	}
	return err
}

// History implements [chat.History] for a message by its ID. DingTalk shows no cards, but
// refuses to change one that does not exist.
func (c cards) History(ctx context.Context, at chat.Place, q chat.Query) ([]chat.Posted, error) {
	if q.ID == "" {
		return nil, nil
	}
	var found []chat.Posted
	for _, draft := range []bool{true, false} {
		id := chat.Message{ID: q.ID, Draft: draft}.Key()
		switch err := c.update(ctx, at, id, map[string]string{}); {
		case err == nil:
			found = append(found, chat.Posted{ID: id, Ours: true, Message: q.ID, Draft: draft})
		case !errors.Is(err, errNoCard):
			return nil, err
		}
	}
	return found, nil
}

// asked is what is remembered of a card with a question: DingTalk tells of a click only
// which card it was on.
type asked struct {
	Chat     string `json:"chat"`
	Approval string `json:"approval"`
}

const noteCard = "card/"

// remember stores what the card with an ID asks.
func (c cards) remember(ctx context.Context, id string, at chat.Place, msg chat.Message) error {
	if msg.Approval == "" || c.notes == nil {
		return nil
	}
	note, err := json.Marshal(asked{at.Chat, msg.Approval})
	if err == nil {
		err = c.notes.SetCursor(ctx, Name, noteCard+id, string(note))
	}
	if err != nil {
		return fmt.Errorf("record the question: %w", err)
	}
	return nil
}

// click is a click on a card.
type click struct {
	Card    string `json:"outTrackId"`
	User    string `json:"userId"`
	Content string `json:"content"` // JSON
}

// readClick parses a click. The button's action, or its parameter "action", is approve or deny.
func (p *platform) readClick(ctx context.Context, data []byte) (chat.Delivery, error) {
	var c click
	var content struct {
		Private struct {
			Actions []string       `json:"actionIds"`
			Params  map[string]any `json:"params"`
		} `json:"cardPrivateData"`
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, fmt.Errorf("%w: %w", chat.ErrMalformed, err)
	}
	if err := json.Unmarshal([]byte(c.Content), &content); err != nil {
		return nil, fmt.Errorf("%w: %w", chat.ErrMalformed, err)
	}
	action := ""
	for _, name := range append(content.Private.Actions, fmt.Sprint(content.Private.Params["action"])) {
		if name == string(chat.ActionApprove) || name == string(chat.ActionDeny) {
			action = name
		}
	}
	if action == "" || c.User == "" || c.Card == "" || p.notes == nil {
		return nil, nil
	}
	note, err := p.notes.Cursor(ctx, Name, noteCard+c.Card)
	if err != nil || note == "" {
		return nil, err
	}
	var question asked
	if err := json.Unmarshal([]byte(note), &question); err != nil {
		return nil, fmt.Errorf("read the question: %w", err)
	}
	out := &chat.Click{Action: chat.Action(action), Value: question.Approval}
	out.Direct = IsDirect(question.Chat)
	out.Inbound = domain.Inbound{Scope: question.Chat, PlatformID: c.Card + "-" + c.User + "-" + action, Chat: question.Chat, Sender: c.User, SentAt: time.Now()}
	return out, nil
}
