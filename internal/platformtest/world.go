package platformtest

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// world is a platform with people, a process, and an engine.
type world struct {
	t       *testing.T
	ctx     context.Context
	p       Platform
	dir     string
	model   *model
	engine  *engine
	process *process
}

// option changes the engine of a world.
type option func(*engine)

// holding keeps the engine's clock from jumping to the next timer.
func holding(e *engine) { e.hold = true }

func newWorld(t *testing.T, open func(*testing.T) Platform, options ...option) *world {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	w := &world{t: t, ctx: ctx, p: open(t), dir: t.TempDir(), model: newModel()}
	w.engine = &engine{t: t, ctx: ctx, name: w.p.Name, changed: make(chan struct{}), runs: map[string]*run{}}
	for _, o := range options {
		o(w.engine)
	}
	w.engine.store = w.open()
	t.Cleanup(func() {
		if w.process != nil {
			w.crash()
		}
		cancel()
		ended, stop := context.WithTimeout(context.Background(), patience)
		defer stop()
		require.NoError(t, w.engine.until(ended, func() bool { return len(w.engine.runs) == 0 }))
	})
	return w
}

// crash ends the process.
func (w *world) crash() {
	w.process.die()
	w.process.buried()
}

// say has Ana write in the direct chat.
func (w *world) say(text string) { w.p.Say(Said{Text: text}) }

// ours returns what the bot shows.
func (w *world) ours(group bool) []Seen {
	return slices.DeleteFunc(w.p.Seen(group), func(s Seen) bool { return !s.Ours })
}

// find returns the first message of the bot in the direct chat that matches.
func (w *world) find(matches func(Seen) bool) (found Seen, ok bool) {
	all := w.ours(false)
	if i := slices.IndexFunc(all, matches); i >= 0 {
		return all[i], true
	}
	return Seen{}, false
}

func containing(text string) func(Seen) bool {
	return func(s Seen) bool { return strings.Contains(s.Text, text) }
}

// longestLook is the longest pause between two looks at a chat, which may be long.
const longestLook = 16 * time.Millisecond

// eventually waits for a condition.
func (w *world) eventually(condition func() bool, what string) {
	w.t.Helper()
	pause := time.Millisecond
	for deadline := time.Now().Add(patience); !condition(); time.Sleep(pause) {
		pause = min(2*pause, longestLook)
		if time.Now().After(deadline) {
			var shown []string
			for _, s := range w.p.Seen(false) {
				shown = append(shown, s.Text)
			}
			w.t.Fatalf("waited %s for: %s\nthe direct chat shows:\n%s", patience, what, strings.Join(shown, "\n---\n"))
		}
	}
}

// settled waits until nothing is going on any more.
func (w *world) settled() {
	w.t.Helper()
	bounded, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	require.NoError(w.t, w.engine.until(bounded, func() bool { return len(w.engine.runs) == 0 }), "sessions still work")
	w.process.outbox.Wait(bounded)
}

// answered waits for the replies to messages and checks that they are there as promised:
// in this order, and after so many faults. Other messages of ours match one of also.
func (w *world) answered(group bool, faults int, ids []string, also ...func(Seen) bool) {
	w.t.Helper()
	w.eventually(func() bool {
		seen := w.replies(group)
		return !slices.ContainsFunc(ids, func(id string) bool { return !slices.Contains(seen, id) })
	}, "replies to "+strings.Join(ids, ", "))
	w.settled()
	seen := w.replies(group)
	if w.p.Promise == AtLeastOnce {
		require.LessOrEqual(w.t, len(seen), len(ids)+faults, "more replies than faults explain: %v", seen)
		seen = firsts(seen)
	}
	if w.p.Unordered {
		require.ElementsMatch(w.t, ids, seen)
	} else {
		require.Equal(w.t, ids, seen)
	}
	strays := 0
	for _, s := range w.ours(group) {
		known := replying.MatchString(s.Text) || slices.ContainsFunc(also, func(matches func(Seen) bool) bool { return matches(s) })
		if !known {
			strays++
			w.t.Logf("stray: %q", s.Text)
		}
	}
	if w.p.Promise != StrayPlaceholder {
		faults = 0
	}
	require.LessOrEqual(w.t, strays, faults, "messages of ours that are not replies")
}

// replies returns the messages whose replies are shown, in the order of the replies.
func (w *world) replies(group bool) (ids []string) {
	for _, s := range w.ours(group) {
		for _, found := range replying.FindAllStringSubmatch(s.Text, -1) {
			ids = append(ids, found[1])
		}
	}
	return ids
}

// firsts returns the first occurrence of each.
func firsts(list []string) (once []string) {
	for _, item := range list {
		if !slices.Contains(once, item) {
			once = append(once, item)
		}
	}
	return once
}

// whole reports whether code is not cut: what opens it in a message also closes it.
func whole(s Seen) bool {
	raw := s.Raw
	if raw == "" {
		raw = s.Text
	}
	return len(fence.FindAllString(raw, -1))%2 == 0 && strings.Count(raw, "<pre") == strings.Count(raw, "</pre>")
}

var fence = regexp.MustCompile("(?m)^```")
