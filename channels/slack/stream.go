package slack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/slack-go/slack"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// CanStream implements [chat.Streamer]: in a thread, for a person.
func (p *platform) CanStream(at chat.Place) bool {
	return at.Thread != "" && strings.IndexAny(at.Person, "UW") == 0 && !p.limits.Busy("chat.startStream", channelOf(at.Chat))
}

// StartStream implements [chat.Streamer]. The stream has no metadata until it is stopped.
func (p *platform) StartStream(ctx context.Context, at chat.Place) (id string, err error) {
	team, channel, _ := strings.Cut(at.Chat, "/")
	if known, err := p.accounts.Get(ctx, at.Person); err == nil { // ours is right for almost everyone
		team = cmp.Or(known.team, team)
	}
	err = p.call(ctx, "chat.startStream", channel, func(ctx context.Context) (err error) {
		_, id, err = p.api.StartStreamContext(ctx, channel,
			slack.MsgOptionTS(at.Thread), slack.MsgOptionRecipientUserID(at.Person), slack.MsgOptionRecipientTeamID(team))
		return err
	})
	if err == nil {
		p.streams.add(channel, id)
	}
	if unsupported[code(err)] {
		return "", fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	return id, err
}

// unsupported are Slack's errors that mean this app cannot use a method at all.
var unsupported = map[string]bool{
	"unknown_method": true, "missing_scope": true, "not_allowed_token_type": true, "access_denied": true,
	"no_permission": true, "feature_not_enabled": true, "method_deprecated": true, "ekm_access_denied": true,
}

// AppendStream implements [chat.Streamer].
func (p *platform) AppendStream(ctx context.Context, at chat.Place, ts, text string) error {
	channel := channelOf(at.Chat)
	err := p.call(ctx, "chat.appendStream", channel, func(ctx context.Context) error {
		_, _, err := p.api.AppendStreamContext(ctx, channel, ts, slack.MsgOptionMarkdownText(text))
		return err
	})
	if code(err) == "message_not_in_streaming_state" { // Slack ends streams after a while
		p.streams.remove(channel, ts)
		return fmt.Errorf("%w: %w", chat.ErrStreamEnded, err)
	}
	return err
}

// StopStream implements [chat.Streamer].
func (p *platform) StopStream(ctx context.Context, at chat.Place, ts, reply string) error {
	channel := channelOf(at.Chat)
	err := p.stopStream(ctx, channel, ts, slack.MsgOptionMetadata(metadataOf(chat.Message{ID: reply, Draft: true})))
	if code(err) == "message_not_in_streaming_state" {
		return nil
	}
	return err
}

// endStream stops a stream, unless it has ended.
func (p *platform) endStream(ctx context.Context, channel, ts string) error {
	err := p.stopStream(ctx, channel, ts)
	switch code(err) {
	case "message_not_in_streaming_state", "stopped_by_user", "message_not_found":
		return nil
	}
	return err
}

func (p *platform) stopStream(ctx context.Context, channel, ts string, options ...slack.MsgOption) error {
	err := p.call(ctx, "chat.stopStream", channel, func(ctx context.Context) error {
		_, _, err := p.api.StopStreamContext(ctx, channel, ts, options...)
		return err
	})
	if err == nil || code(err) != "" && !unavailable[code(err)] && !limited[code(err)] {
		p.streams.remove(channel, ts)
	}
	return err
}

// maxStreams bounds the streams that are known to be open.
const maxStreams = 1_000

// streams are those that this process started and that were not ended yet. The zero value
// is ready to use.
type streams struct {
	mu   sync.Mutex
	open map[string]bool // by channel and ts
}

func (s *streams) add(channel, ts string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil || len(s.open) >= maxStreams {
		s.open = map[string]bool{}
	}
	s.open[channel+"/"+ts] = true
}

func (s *streams) has(channel, ts string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[channel+"/"+ts]
}

func (s *streams) remove(channel, ts string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, channel+"/"+ts)
}

// unfinished matches the end of a text that may become a mention of everyone.
var unfinished = regexp.MustCompile(`[<@][!\w]{0,10}$`)

// Streamable implements [chat.Streamer]: the text is changed so that it mentions
// everybody nowhere.
func (*platform) Streamable(text string) string {
	return quiet(quietCode(unfinished.ReplaceAllString(text, "")))
}
