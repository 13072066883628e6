package qq

import (
	"context"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

const textNotice = "This takes longer. If QQ closes the window for replies, I will answer when you write again."

// Indicates implements [chat.Indicator]: a message whose answer takes a while is answered
// by a notice first.
func (p *platform) Indicates(context.Context, chat.Place) (chat.Indicates, error) {
	return chat.Indicates{State: p.o.NoticeAfter > 0}, nil
}

// Indicate implements [chat.Indicator]. A second notice to a message is not shown: it has
// the same number.
func (p *platform) Indicate(ctx context.Context, at chat.Place, what chat.Indication) error {
	if what.State != chat.StateWorking || at.ReplyTo == "" {
		return nil
	}
	m := message{ReplyTo: at.ReplyTo, Seq: noticeSeq}
	p.setText(&m, textNotice)
	_, err := p.send(ctx, at, m, "")
	return err
}
