package command

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-ai/holdfast/channels/http/client"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	// giveUp is how long a message may take before the load does not wait any longer.
	giveUp = 3 * time.Minute
	// callLimit bounds a request: the process may be stopped.
	callLimit = 3 * time.Second
	// sessionMessages is about how many messages a session gets before its speaker starts
	// another.
	sessionMessages = 12
	// lookInterval is how often the load looks for a background reply.
	lookInterval = 100 * time.Millisecond
)

// chaosMessage is a message of the load and what became of it.
type chaosMessage struct {
	name, session string
	kind          chaosKind
	work          time.Duration // of its command

	from, to time.Time // when its turn could begin, and when its answer came
	reply    domain.Reply

	// The same for the reply of its subagent or job.
	laterFrom, laterTo time.Time
}

func (m *chaosMessage) text() string {
	return chaosText(m.kind, m.name, strconv.FormatFloat(m.work.Seconds(), 'f', 1, 64))
}

// works reports whether its command has to run.
func (m *chaosMessage) works() bool {
	return m.kind == kindRun || m.kind == kindAsk || m.kind == kindSpawn || m.kind == kindJob
}

// own is the work of its turn.
func (m *chaosMessage) own() time.Duration {
	if m.kind == kindRun || m.kind == kindAsk {
		return m.work
	}
	return 0
}

// later reports whether a subagent or a job replies as well.
func (m *chaosMessage) later() bool { return m.kind == kindSpawn || m.kind == kindJob }

// chaosLoad sends messages as several people do, each in one session after another.
type chaosLoad struct {
	apis    []*client.Client // each takes any message
	next    atomic.Int64     // index in apis of the first one to try
	problem func(session, format string, values ...any)
	asked   atomic.Int64
	decides <-chan struct{} // closed when questions may be answered

	mu       sync.Mutex
	messages []*chaosMessage // of a session, in the order of acceptance
}

// speak sends messages until quiet is closed, and waits for the answers to all.
func (l *chaosLoad) speak(ctx context.Context, quiet <-chan struct{}, speaker int, random *rand.Rand) {
	session, sent := 0, 0
	for n := 0; ; {
		select {
		case <-quiet:
			return
		case <-ctx.Done():
			return
		case <-time.After(time.Duration(random.Int64N(int64(time.Second)))):
		}
		if sent >= sessionMessages {
			session, sent = session+1, 0
		}
		batch := chaosBatch(random)
		for i := range batch {
			batch[i].name, batch[i].session = fmt.Sprintf("m%d-%d", speaker, n), fmt.Sprintf("s%d-%d", speaker, session)
			n, sent = n+1, sent+1
		}
		if !l.converse(ctx, batch) {
			sent = sessionMessages // the session may be stuck
		}
	}
}

// chaosBatch returns a message, or several that wait for each other. No message may come
// after one that asks, which it would withdraw.
func chaosBatch(random *rand.Rand) []chaosMessage {
	batch := make([]chaosMessage, 1+2*(random.IntN(4)/3))
	for i := range batch {
		m := &batch[i]
		m.work = time.Duration(1+random.IntN(20)) * 100 * time.Millisecond
		for m.kind == "" || len(batch) > 1 && (m.later() || m.kind == kindAsk || m.kind == kindDeny) {
			m.kind = chaosKinds[random.IntN(len(chaosKinds))]
		}
	}
	return batch
}

// converse sends messages and waits for their answers. It returns false if it gave up.
func (l *chaosLoad) converse(ctx context.Context, batch []chaosMessage) bool {
	for i := range batch {
		m := &batch[i]
		if !l.send(ctx, m.session, m.name, m.text()) {
			return false
		}
		m.from = time.Now()
		l.mu.Lock()
		l.messages = append(l.messages, m)
		l.mu.Unlock()
	}
	for i := range batch {
		m := &batch[i]
		if i > 0 {
			m.from = batch[i-1].to
		}
		if !l.await(ctx, m) || m.later() && !l.awaitLater(ctx, m) {
			return false
		}
	}
	return true
}

// try calls f, with one API after another, until it reports that it is done.
func (l *chaosLoad) try(ctx context.Context, f func(context.Context, *client.Client) bool) (done bool) {
	ctx, cancel := context.WithTimeout(ctx, giveUp)
	defer cancel()
	for i := int(l.next.Add(1)); ctx.Err() == nil; i++ {
		attempt, end := context.WithTimeout(ctx, callLimit)
		done = f(attempt, l.apis[i%len(l.apis)])
		end()
		if done {
			return true
		}
		select {
		case <-ctx.Done():
		case <-time.After(lookInterval):
		}
	}
	return false
}

// send sends a message until it is acknowledged.
func (l *chaosLoad) send(ctx context.Context, session, id, text string) bool {
	refused := false
	acknowledged := l.try(ctx, func(ctx context.Context, api *client.Client) bool {
		_, err := api.Send(ctx, session, id, text)
		if failed := remote.As(err); failed != nil && failed.Permanent() {
			l.problem(session, "%s was refused: %v", id, err)
			refused = true
		}
		return err == nil || refused
	})
	if !acknowledged && ctx.Err() == nil {
		l.problem(session, "%s was not accepted within %v", id, giveUp)
	}
	return acknowledged && !refused
}

// await waits for a message's answer, and answers its questions.
func (l *chaosLoad) await(ctx context.Context, m *chaosMessage) bool {
	var deciding sync.WaitGroup
	defer deciding.Wait()
	var asked []string
	answered := l.try(ctx, func(ctx context.Context, api *client.Client) bool {
		reply, err := api.Follow(ctx, m.name, func(e event.Event) {
			if e.Kind != event.Approval || slices.Contains(asked, e.ID) {
				return
			}
			l.asked.Add(1)
			if asked = append(asked, e.ID); len(asked) > 1 {
				l.problem(m.session, "%s asks again: %v", m.name, asked)
			}
			deciding.Go(func() { l.decide(context.WithoutCancel(ctx), m, e.ID) })
		})
		m.reply, m.to = reply, time.Now()
		return err == nil
	})
	switch {
	case !answered && ctx.Err() == nil:
		l.problem(m.session, "%s was not answered within %v", m.text(), giveUp)
	case answered && (m.reply.Status != domain.ReplyDone || m.reply.Text != chaosAnswer(m.name)):
		l.problem(m.session, "%s was answered wrongly: %s, %q", m.text(), m.reply.Status, m.reply.Text)
	case answered && (m.kind == kindAsk || m.kind == kindDeny) && len(asked) == 0:
		l.problem(m.session, "%s did not ask", m.text())
	}
	return answered
}

// decide answers a question in the conversation.
func (l *chaosLoad) decide(ctx context.Context, m *chaosMessage, approval string) {
	command, want := "/approve ", "Approved."
	if m.kind == kindDeny {
		command, want = "/deny ", "Denied."
	}
	select {
	case <-l.decides:
	case <-ctx.Done():
	}
	id := m.name + "-" + approval
	if !l.send(ctx, m.session, id, command+approval) {
		return
	}
	var reply domain.Reply
	answered := l.try(ctx, func(ctx context.Context, api *client.Client) bool {
		var err error
		reply, err = api.Follow(ctx, id, nil)
		return err == nil
	})
	if !answered || !strings.HasPrefix(reply.Text, want) {
		l.problem(m.session, "%s to %s was answered wrongly: %q", command, m.text(), reply.Text)
	}
}

// awaitLater waits for the reply of a subagent or a job.
func (l *chaosLoad) awaitLater(ctx context.Context, m *chaosMessage) bool {
	if m.laterFrom = m.to; m.kind == kindJob {
		m.laterFrom = m.to.Add(jobDelay)
	}
	came := l.try(ctx, func(ctx context.Context, api *client.Client) bool {
		replies, err := api.Background(ctx, "http:"+m.session, time.Time{})
		i := slices.IndexFunc(replies, m.isLater)
		if err != nil || i < 0 {
			return false
		}
		if m.laterTo = time.Now(); !strings.HasSuffix(replies[i].Text, chaosAnswer(m.name)) {
			l.problem(m.session, "the %s of %s replied wrongly: %q", m.kind, m.name, replies[i].Text)
		}
		return true
	})
	if !came && ctx.Err() == nil {
		l.problem(m.session, "the reply of the %s of %s did not come within %v", m.kind, m.name, giveUp)
	}
	return came
}

// isLater reports whether a background reply is that of the message's subagent or job.
func (m *chaosMessage) isLater(r domain.BackgroundReply) bool {
	name, _, _ := strings.Cut(strings.TrimPrefix(r.Text, "report of "), ",")
	return name == chaosAnswer(m.name)
}
