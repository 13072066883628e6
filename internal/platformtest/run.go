package platformtest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// lostAnswers is how many posts lose their answers, one after the other.
const lostAnswers = 100

// Run runs all scenarios that the platform can play. Each calls open once, for a platform with
// empty chats.
func Run(t *testing.T, open func(t *testing.T) Platform) {
	t.Helper()
	for _, s := range []struct {
		name string
		play func(*testing.T, func(*testing.T) Platform)
	}{
		{"crashes", crashes},
		{"a crash between the parts of a reply", crashBetweenParts},
		{"lost answers", losesAnswers},
		{"redelivery", redelivers},
		{"two quick messages", twoMessages},
		{"two people", twoPeople},
		{"a long answer", longReply},
		{"a file that is received", fileIn},
		{"a file that is sent", fileOut},
		{"an approval", approves},
		{"a denial in words", denies},
		{"a rating", rates},
		{"an approval on the person's page", approvesAtHome},
		{"stop", stops},
		{"rate limits", limited},
		{"the platform is away", platformAway},
		{"we are away", weAreAway},
	} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.play(t, open)
		})
	}
}

// crashes has the process die at each boundary of a turn.
func crashes(t *testing.T, open func(*testing.T) Platform) {
	for _, point := range []Point{Accepted, Drafted, DraftRecorded, Claimed, Placed, Posted, Recorded} {
		t.Run(string(point), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, open)
			drafting := point == Drafted || point == DraftRecorded
			if drafting && !w.p.Drafts {
				t.Skip("the platform shows no drafts")
			}
			dying := w.start(point)
			if drafting {
				w.say(slow + " m1")
			} else {
				w.say(echo + " m1")
			}
			faults := 1
			w.eventually(func() bool { return dying.isDead() || point == Placed && len(w.replies(false)) == 1 }, "a crash: "+string(point))
			if dying.isDead() {
				dying.buried()
				close(w.model.proceed)
				w.start("")
			} else { // the reply needed no placeholder
				dying.live()
				faults = 0
			}
			w.answered(false, faults, []string{"m1"})
			w.say(echo + " m2")
			w.answered(false, faults, []string{"m1", "m2"})
		})
	}
}

// crashBetweenParts has the process die when the first part of a long reply is posted.
func crashBetweenParts(t *testing.T, open func(*testing.T) Platform) {
	w := newWorld(t, open)
	dying := w.start(Posted)
	w.say(long + " m1")
	w.eventually(dying.isDead, "a crash")
	dying.buried()
	w.start("")
	w.checkLong(1)
}

func losesAnswers(t *testing.T, open func(*testing.T) Platform) {
	w := newWorld(t, open)
	if w.p.LoseAnswers == nil {
		t.Skip("the platform loses no answers")
	}
	w.start("")
	var ids []string
	for i := range lostAnswers {
		w.p.LoseAnswers(1)
		ids = append(ids, fmt.Sprintf("m%d", i+1))
		w.say(echo + " " + ids[i])
		w.eventually(func() bool { return len(w.replies(false)) > i }, "a reply to "+ids[i])
	}
	w.answered(false, lostAnswers, ids)
}

func redelivers(t *testing.T, open func(*testing.T) Platform) {
	w := newWorld(t, open)
	if w.p.Redeliver == nil {
		t.Skip("the platform delivers nothing twice")
	}
	w.start("")
	w.say(echo + " m1")
	for range 3 {
		w.p.Redeliver(t)
	}
	w.answered(false, 0, []string{"m1"})
	w.crash()
	w.start("")
	w.p.Redeliver(t)
	w.say(echo + " m2")
	w.answered(false, 0, []string{"m1", "m2"})
}

func twoMessages(t *testing.T, open func(*testing.T) Platform) {
	w := newWorld(t, open)
	w.start("")
	w.say(echo + " m1")
	w.say(echo + " m2")
	w.answered(false, 0, []string{"m1", "m2"})
}

func twoPeople(t *testing.T, open func(*testing.T) Platform) {
	w := newWorld(t, open)
	if w.p.Alone {
		t.Skip("the platform has direct chats only")
	}
	w.start("")
	w.p.Say(Said{Group: true, Text: echo + " m1"})
	w.answered(true, 0, []string{"m1"})
	w.p.Say(Said{By: Ben, Group: true, Text: echo + " m2"})
	w.answered(true, 0, []string{"m1", "m2"})
	require.Empty(t, w.ours(false))
}

func longReply(t *testing.T, open func(*testing.T) Platform) {
	w := newWorld(t, open)
	w.start("")
	w.say(long + " m1")
	w.checkLong(0)
}

// checkLong checks that all of [longAnswer] is there, in order and in messages that the
// platform takes.
func (w *world) checkLong(faults int) {
	w.t.Helper()
	w.answered(false, faults, []string{"m1"}, func(s Seen) bool { return s.File != nil || marks.MatchString(s.Text) })
	want, got := marks.FindAllString(longAnswer(), -1), []string(nil)
	for _, s := range w.ours(false) {
		text := s.Text
		if s.File != nil {
			text += string(s.File.Content)
		}
		got = append(got, marks.FindAllString(text, -1)...)
		raw := s.Raw
		if raw == "" {
			raw = s.Text
		}
		measure := w.p.Measure
		if measure == nil {
			measure = utf8.RuneCountInString
		}
		if w.p.TextLimit > 0 && s.File == nil {
			require.LessOrEqual(w.t, measure(raw), w.p.TextLimit, "a message is too long")
		}
		require.True(w.t, whole(s), "code is cut:\n%s", raw)
	}
	if w.p.Promise == AtLeastOnce && faults > 0 {
		got = firsts(got)
	}
	require.Equal(w.t, want, got)
}

func fileIn(t *testing.T, open func(*testing.T) Platform) {
	w := newWorld(t, open)
	if !w.p.Files {
		t.Skip("people cannot send files")
	}
	w.start("")
	content := "The notes: " + strings.Repeat("ü", 100)
	w.p.Say(Said{Text: echo + " m1", File: &File{Name: "notes.txt", Content: []byte(content)}})
	w.answered(false, 0, []string{"m1"})
	saved := regexp.MustCompile(`\[Attached: notes\.txt .*saved as ([^\]]+)\]`).FindStringSubmatch(w.model.read())
	require.NotNil(t, saved, "the model is not told of the file:\n%s", w.model.read())
	got, err := os.ReadFile(filepath.Join(w.dir, saved[1]))
	require.NoError(t, err)
	require.Equal(t, content, string(got))
}

func fileOut(t *testing.T, open func(*testing.T) Platform) {
	w := newWorld(t, open)
	if !w.p.Files {
		t.Skip("the bot cannot send files")
	}
	w.start("")
	content := "The result: " + strings.Repeat("ü", 100)
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, outFile), []byte(content), 0o600))
	w.say(send + " m1")
	sent := func(s Seen) bool { return s.File != nil && s.File.Name == outFile }
	w.answered(false, 0, []string{"m1"}, sent)
	file, ok := w.find(sent)
	require.True(t, ok, "no file was sent")
	require.Equal(t, content, string(file.File.Content))
}

// isQuestion recognizes the question whether to poke.
func isQuestion(s Seen) bool { return strings.Contains(s.Text, "May I run") }

func approves(t *testing.T, open func(*testing.T) Platform) {
	w := newWorld(t, open, holding)
	w.start("")
	w.say(poke + " m1")
	var question Seen
	w.eventually(func() (asked bool) {
		question, asked = w.find(isQuestion)
		return asked
	}, "a question")
	if press := question.Buttons["Approve"]; press != nil {
		press()
	} else {
		w.say("yes")
	}
	outcome := containing("Approved")
	w.answered(false, 0, []string{"m1"}, isQuestion, outcome)
	if len(question.Buttons) > 0 {
		w.eventually(func() bool {
			asked, _ := w.find(isQuestion)
			return len(asked.Buttons) == 0
		}, "the question to lose its buttons")
	}
}

func approvesAtHome(t *testing.T, open func(*testing.T) Platform) {
	w := newWorld(t, open, holding)
	if w.p.OpenHome == nil {
		t.Skip("people have no pages")
	}
	w.start("")
	w.say(poke + " m1")
	w.eventually(func() bool {
		_, asked := w.find(isQuestion)
		return asked
	}, "a question")
	home := w.p.OpenHome(t)
	w.eventually(func() bool { return home().Buttons["Approve"] != nil }, "the question on the page")
	home().Buttons["Approve"]()
	w.answered(false, 0, []string{"m1"}, isQuestion)
	w.eventually(func() bool {
		asked, _ := w.find(isQuestion)
		return strings.Contains(asked.Text, "Approved by") && len(asked.Buttons) == 0
	}, "the question to say who answered it")
	w.eventually(func() bool { return home().Buttons["Approve"] == nil }, "the page to lose the question")
}

func denies(t *testing.T, open func(*testing.T) Platform) {
	w := newWorld(t, open, holding)
	w.start("")
	w.say(poke + " m1")
	w.eventually(func() bool {
		_, asked := w.find(isQuestion)
		return asked
	}, "a question")
	w.say("no")
	w.answered(false, 0, []string{"m1"}, isQuestion, containing("Denied"))
}

func rates(t *testing.T, open func(*testing.T) Platform) {
	w := newWorld(t, open)
	if !w.p.Rated {
		t.Skip("replies cannot be rated")
	}
	w.start("")
	w.say(long + " m1")
	pressed := func(label string) bool {
		rated, ok := w.find(func(s Seen) bool { return s.Buttons[label] != nil })
		if ok {
			rated.Buttons[label]()
		}
		return ok
	}
	w.eventually(func() bool { return pressed("Good answer") }, "a reply that can be rated")
	w.eventually(func() bool { return w.ratings() == "good" }, "a rating")
	require.True(t, pressed("Bad answer"))
	w.eventually(func() bool { return w.ratings() == "bad" }, "another rating in its place")
}

// ratings returns all ratings of replies.
func (w *world) ratings() string {
	w.t.Helper()
	sessions, err := w.process.store.Sessions(w.ctx, 10)
	require.NoError(w.t, err)
	var words []string
	for _, s := range sessions {
		byTurn, err := w.process.store.Ratings(w.ctx, s.Key)
		require.NoError(w.t, err)
		for _, ratings := range byTurn {
			for _, r := range ratings {
				words = append(words, r.Word())
			}
		}
	}
	return strings.Join(words, " ")
}

func stops(t *testing.T, open func(*testing.T) Platform) {
	w := newWorld(t, open)
	w.start("")
	w.say(hang + " m1")
	<-w.model.called
	stop := w.p.Stop
	if stop == "" {
		stop = "/stop"
	}
	w.say(stop)
	stopped := func(s Seen) bool { return strings.Contains(strings.ToLower(s.Text), "stop") }
	w.eventually(func() bool {
		_, ok := w.find(stopped)
		return ok
	}, "the turn to stop")
	w.say(echo + " m2")
	w.answered(false, 0, []string{"m2"}, stopped)
}

func limited(t *testing.T, open func(*testing.T) Platform) {
	w := newWorld(t, open)
	if w.p.Limit == nil {
		t.Skip("the platform has no rate limits")
	}
	w.start("")
	w.p.Limit(1, time.Second)
	w.say(echo + " m1")
	w.answered(false, 0, []string{"m1"})
}

func platformAway(t *testing.T, open func(*testing.T) Platform) {
	w := newWorld(t, open)
	if w.p.Down == nil {
		t.Skip("the platform is always there")
	}
	w.start("")
	w.say(slow + " m1")
	<-w.model.called
	up := w.p.Down()
	close(w.model.proceed)
	time.Sleep(200 * time.Millisecond) // a few attempts
	up()
	w.answered(false, 1, []string{"m1"})
}

func weAreAway(t *testing.T, open func(*testing.T) Platform) {
	w := newWorld(t, open)
	if !w.p.Backlog {
		t.Skip("the platform does not keep messages")
	}
	w.start("")
	w.say(echo + " m1")
	w.answered(false, 0, []string{"m1"})
	w.crash()
	ids := []string{"m1"}
	for i := range 50 {
		ids = append(ids, fmt.Sprintf("m%d", i+2))
		w.say(echo + " " + ids[i+1])
	}
	w.start("")
	w.answered(false, 0, ids)
}
