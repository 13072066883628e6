package slack

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/slack-go/slack"

	"github.com/holdfast-ai/holdfast/channels/chat"
	md "github.com/holdfast-ai/holdfast/channels/chat/markdown"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

const (
	homeApprovals = 20    // shown at once: a view has 100 blocks
	sectionLimit  = 3_000 // characters of a section
)

// homeOpened is an app_home_opened event.
type homeOpened struct {
	User    string `json:"user"`
	Channel string `json:"channel"` // the direct message with the person
	Tab     string `json:"tab"`
}

// readHomeOpened returns the visit of the Home tab; nil if the person opened another one.
func readHomeOpened(event json.RawMessage, self Identity) (chat.Delivery, error) {
	var h homeOpened
	if err := decode(event, &h); err != nil {
		return nil, err
	}
	if h.Tab != "home" {
		return nil, nil
	}
	if h.User == "" || !isDirect(h.Channel) {
		return nil, fmt.Errorf("%w: app_home_opened without user or direct message", chat.ErrMalformed)
	}
	visit := &chat.Visit{}
	visit.Chat, visit.Sender, visit.Direct = chatOf(self.TeamID, h.Channel), h.User, true
	return visit, nil
}

// ShowHome implements [chat.Homepage]. The view carries the channel of the direct message:
// clicks on it do not say which one that is.
func (p *platform) ShowHome(ctx context.Context, at chat.Place, page chat.Home) error {
	return p.call(ctx, "views.publish", "", func(ctx context.Context) error {
		_, err := p.api.PublishViewContext(ctx, slack.PublishViewContextRequest{UserID: at.Person, View: slack.HomeTabViewRequest{
			Type: slack.VTHomeTab, PrivateMetadata: channelOf(at.Chat), Blocks: slack.Blocks{BlockSet: homeBlocks(page)},
		}})
		return err
	})
}

func homeBlocks(page chat.Home) []slack.Block {
	if page.Refused != "" {
		return []slack.Block{section(mrkdwn(page.Refused))}
	}
	blocks := []slack.Block{heading("Waiting for your approval")}
	for i, asked := range page.Approvals {
		if i == homeApprovals {
			blocks = append(blocks, section(fmt.Sprintf("… and %d more", len(page.Approvals)-i)))
			break
		}
		blocks = append(blocks, section(describe(asked)), buttonsBlock(chat.QuestionButtons(asked.ID)))
	}
	if len(page.Approvals) == 0 {
		blocks = append(blocks, section("Nothing."))
	}
	var jobs []string
	for _, job := range page.Jobs {
		line := "• *" + prose(job.Label) + "*: " + prose(job.When)
		if job.Next != "" {
			line += "; next " + prose(job.Next)
		}
		jobs = append(jobs, line)
	}
	if len(jobs) == 0 {
		jobs = []string{"None. Ask me in a conversation to do something later or regularly."}
	}
	usage := "Today: " + spent(page.Today) + "\nThis month: " + spent(page.Month)
	return append(blocks, heading("Your jobs"), section(strings.Join(jobs, "\n")), heading("Your usage"), section(usage))
}

// describe says what an approval is about, who asked for it and until when.
func describe(asked domain.Approval) string {
	by := prose(asked.Sender)
	if asked.Channel == Name {
		by = "<@" + escape(asked.Sender) + ">"
	}
	until := fmt.Sprintf("<!date^%d^{date_short_pretty} {time}|%s>", asked.ExpiresAt.Unix(), asked.ExpiresAt.UTC().Format("2006-01-02 15:04 UTC"))
	return fmt.Sprintf("`%s` for %s, until %s\n%s", escape(asked.Tool), by, until, strings.TrimSpace(md.Fenced(escape(asked.Arguments), "")))
}

func spent(t domain.Totals) string {
	return fmt.Sprintf("%d tokens in %d model calls, %s", t.Tokens(), t.Calls, domain.Dollars(t.Cost, t.Unpriced))
}

func heading(text string) slack.Block {
	return slack.NewHeaderBlock(slack.NewTextBlockObject(slack.PlainTextType, text, false, false))
}

// section returns a block of text in Slack's markup.
func section(markup string) slack.Block {
	return slack.NewSectionBlock(slack.NewTextBlockObject(slack.MarkdownType, cutMarkup(markup, sectionLimit), false, false), nil, nil)
}
