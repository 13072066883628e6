package command

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/platformtest"
)

// livePlatform is a fake of a chat platform on which Ana writes to the real program, in a
// direct chat.
type livePlatform struct {
	promise platformtest.Promise
	// environ has the settings that connect the program, and let everybody in.
	environ []string
	// prepare sets up the home before the program runs first; nil: nothing is needed.
	prepare func(h *home)
	// ready waits until the program receives; nil: the platform keeps messages until it does.
	ready func(ctx context.Context) error
	// say has Ana write.
	say func(text string)
	// seen returns the texts of the bot's messages that Ana sees, oldest first.
	seen func() []string
	// backlog is how many messages are written while the program is down; 0: the platform
	// does not keep them.
	backlog int
	// inOrder is set if they arrive in their order.
	inOrder bool
}

// livePlatforms has a row for each platform: the name, and how its fake is started.
var livePlatforms = []struct {
	name  string
	start func(t *testing.T) livePlatform
}{
	{"slack", liveSlack},
	{"telegram", liveTelegram},
	{"discord", liveDiscord},
	{"feishu", liveFeishu},
	{"wechat", liveWeChat},
	{"dingtalk", liveDingTalk},
	{"qq", liveQQ},
	{"matrix", liveMatrix},
	{"whatsapp", liveWhatsApp},
	{"email", liveEmail},
	{"mattermost", liveMattermost},
}

// boundaries are the failpoints at which the program is killed, one after the other.
var boundaries = []string{"accept.stored", "draft.posted", "deliver.sent", "deliver.stored"}

// TestPlatforms runs one program on all platforms, kills it again and again, and checks in
// each chat that every message got what the platform promises.
func TestPlatforms(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for _, point := range boundaries {
		nth := 1
		if point != "draft.posted" { // not every platform shows drafts
			nth += rand.IntN(len(s.chats))
		}
		died := s.start(t, dieAt(fmt.Sprintf("%s:%d", point, nth)))
		if point == "draft.posted" || point == "deliver.sent" {
			s.say("slow", 1) // with a draft that becomes the reply
		} else {
			s.say("", 1)
		}
		died.awaitExit(t)
		t.Logf("killed at %s:%d", point, nth)
		s.kills++
	}
	for range 2 {
		running := s.start(t)
		s.say("", 3)
		after := time.Duration(rand.Int64N(int64(500 * time.Millisecond)))
		time.Sleep(after)
		running.kill()
		t.Logf("killed after %v", after)
		s.kills++
	}
	s.sayBacklog()
	last := s.start(t)
	s.await(t, last)
	for _, chat := range s.chats {
		t.Run(chat.name, func(t *testing.T) { chat.check(t, s.kills) })
	}
	require.Empty(t, s.model.Invalid())
}

// stage is a home that is connected to all platforms.
type stage struct {
	*home
	model *llmtest.Server
	chats []*liveChat
	kills int
}

// liveChat is Ana's chat on a platform.
type liveChat struct {
	livePlatform
	name    string
	said    []string // IDs of her messages, in order
	backlog []string // of these, those written while the program was down
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{model: llmtest.NewFunc(t, replyToID)}
	s.home = newHome(t, s.model.URL)
	s.environ = append(s.environ, "HOLDFAST_AGENT_MID_TURN=queue", "HOLDFAST_HEARTBEAT_ENABLED=false")
	for _, row := range livePlatforms {
		chat := &liveChat{name: row.name, livePlatform: row.start(t)}
		s.chats = append(s.chats, chat)
		if chat.prepare != nil {
			chat.prepare(s.home)
		}
		s.environ = append(s.environ, chat.environ...)
	}
	return s
}

// numbered matches the number of a message, and answered that of a reply.
var (
	numbered = regexp.MustCompile(`\bnumber (\d+)`)
	answered = regexp.MustCompile(`Reply to (\d+)\.`)
)

// replyToID answers a message with its number; what is slow with time for a draft.
func replyToID(r llmtest.Request) llmtest.Step {
	found := numbered.FindAllStringSubmatch(r.LastUser(), -1)
	if found == nil {
		return llmtest.Text("What?")
	}
	reply := "Let me see. Reply to " + found[len(found)-1][1] + "."
	if strings.Contains(r.LastUser(), "slow") {
		return llmtest.SlowDrip(reply, 300*time.Millisecond)
	}
	return llmtest.Text(reply)
}

// start starts the program and waits until it receives everywhere.
func (s *stage) start(t *testing.T, environ ...string) *process {
	t.Helper()
	p := s.home.start(t, environ...)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	go func() {
		<-p.exited // it may die of what was left to do
		cancel()
	}()
	for _, chat := range s.chats {
		if chat.ready == nil || ctx.Err() != nil {
			continue
		}
		if err := chat.ready(ctx); err != nil && ctx.Err() == nil {
			t.Fatalf("%s: %v", chat.name, err)
		}
	}
	return p
}

// say has Ana write n messages on each platform.
func (s *stage) say(how string, n int) {
	for range n {
		for _, chat := range s.chats {
			chat.write(how)
		}
	}
}

func (c *liveChat) write(how string) {
	c.said = append(c.said, strconv.Itoa(len(c.said)+1))
	c.say(strings.TrimSpace(how + " number " + c.said[len(c.said)-1]))
}

// sayBacklog has Ana write while the program is down.
func (s *stage) sayBacklog() {
	for _, chat := range s.chats {
		for range chat.livePlatform.backlog {
			chat.write("")
			chat.backlog = append(chat.backlog, chat.said[len(chat.said)-1])
		}
	}
}

// await waits until everything is answered and nothing is going on any more.
func (s *stage) await(t *testing.T, p *process) {
	t.Helper()
	require.Eventually(t, func() bool {
		return !slices.ContainsFunc(s.chats, func(c *liveChat) bool { return len(c.unanswered()) > 0 })
	}, patience, 10*time.Millisecond, "unanswered: %v", s)
	temporal := p.temporal(t)
	require.Eventually(t, func() bool {
		open, err := temporal.CountWorkflow(t.Context(), &workflowservice.CountWorkflowExecutionsRequest{Query: `ExecutionStatus = "Running" AND WorkflowType = "Session"`})
		return err == nil && open.Count == 0
	}, patience, 20*time.Millisecond)
}

// replies returns the numbers of the messages whose replies are shown, in the order of the
// replies.
func (c *liveChat) replies() (ids []string) {
	for _, text := range c.seen() {
		for _, found := range answered.FindAllStringSubmatch(text, -1) {
			ids = append(ids, found[1])
		}
	}
	return ids
}

func (c *liveChat) unanswered() []string {
	replies := c.replies()
	return slices.DeleteFunc(slices.Clone(c.said), func(id string) bool { return slices.Contains(replies, id) })
}

// String says what is unanswered.
func (s *stage) String() string {
	var all []string
	for _, c := range s.chats {
		all = append(all, fmt.Sprintf("%s: %v", c.name, c.unanswered()))
	}
	return strings.Join(all, "; ")
}

// check checks what the chat shows after so many kills.
func (c *liveChat) check(t *testing.T, kills int) {
	t.Helper()
	replies := c.replies()
	once := map[string]bool{}
	doubled := 0
	for _, id := range replies {
		if once[id] {
			doubled++
		}
		once[id] = true
	}
	strays := 0
	for _, text := range c.seen() {
		if !answered.MatchString(text) {
			strays++
			t.Logf("stray: %q", text)
		}
	}
	allowed := map[platformtest.Promise][2]int{platformtest.StrayPlaceholder: {0, kills}, platformtest.AtLeastOnce: {kills, 0}}[c.promise]
	require.LessOrEqual(t, doubled, allowed[0], "doubled replies: %v", replies)
	require.LessOrEqual(t, strays, allowed[1], "messages that are not replies")
	require.Len(t, once, len(c.said))
	if c.inOrder {
		late := slices.DeleteFunc(slices.Clone(replies), func(id string) bool { return !slices.Contains(c.backlog, id) })
		require.Equal(t, c.backlog, slices.Compact(late), "the order of what was written while we were down")
	}
}
