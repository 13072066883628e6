package wechat

import (
	"context"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

const (
	// typingLapse is how often "typing" is shown again.
	typingLapse = 5 * time.Second
	// ticketLasts is how long a ticket to show it is used.
	ticketLasts = 12 * time.Hour
	maxTickets  = 1000
)

// What sendtyping can show.
const (
	typingOn  = 1
	typingOff = 2
)

// ticket lets us show in a chat that we are typing.
type ticket struct {
	value string
	until time.Time
}

// Indicates implements [chat.Indicator].
func (*platform) Indicates(context.Context, chat.Place) (chat.Indicates, error) {
	return chat.Indicates{Text: true, Lapse: typingLapse}, nil
}

// Indicate implements [chat.Indicator]. WeChat shows that we are typing, and no text.
func (p *platform) Indicate(ctx context.Context, at chat.Place, what chat.Indication) error {
	account, err := p.account(ctx)
	if err != nil {
		return err
	}
	granted, err := p.ticket(ctx, account, at.Chat)
	if err != nil || granted == "" {
		return err
	}
	status := typingOff
	if what.State == chat.StateWorking && what.Text != "" {
		status = typingOn
	}
	return p.limits.Do(ctx, "sendtyping", "", false, func(ctx context.Context) error {
		return p.client.call(ctx, account, "sendtyping", map[string]any{"ilink_user_id": at.Chat, "typing_ticket": granted, "status": status}, nil)
	})
}

// ticket returns the ticket of a chat; empty: WeChat grants none.
func (p *platform) ticket(ctx context.Context, account Account, chat string) (string, error) {
	key := account.Token + "/" + chat
	p.mu.Lock()
	known := p.tickets[key]
	p.mu.Unlock()
	if time.Now().Before(known.until) {
		return known.value, nil
	}
	open, err := p.windows(ctx, chat)
	if err != nil || len(open) == 0 {
		return "", err
	}
	var answer struct {
		Ticket string `json:"typing_ticket"`
	}
	err = p.client.call(ctx, account, "getconfig", map[string]any{"ilink_user_id": chat, "context_token": open[len(open)-1].Token}, &answer)
	if err != nil {
		return "", err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.tickets) >= maxTickets {
		clear(p.tickets)
	}
	p.tickets[key] = ticket{answer.Ticket, time.Now().Add(ticketLasts)}
	return answer.Ticket, nil
}
