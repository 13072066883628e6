package workflows_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

func TestOrder(t *testing.T) {
	t.Parallel()

	t.Run("messages are answered one turn at a time and in order", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.script(look(), say("one", func() { b.send(alone("m4")) }), say("two"), say("three"), say("four"))
		require.NoError(t, b.run(alone("m1"), alone("m2"), alone("m3")))
		require.Equal(t, []string{"one", "two", "three", "four"}, b.posted())
		require.Equal(t, []string{
			"Complete m1 1", "CallTool m1 1", "Complete m1 2", "Complete m2 1", "Complete m3 1", "Complete m4 1",
		}, b.started(protocol.CompleteActivity, protocol.CallToolActivity))
		require.Equal(t, []string{"Deliver o1", "Deliver o2", "Deliver o3", "Deliver o4"}, b.started(protocol.DeliverActivity))
	})

	t.Run("a message that arrives at the last moment is not lost", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.script(say("one"), say("two"))
		// It is there, and not yet read, when the last activity is done.
		b.env.SetOnActivityStartedListener(onStarted(protocol.DeliverActivity, func() {
			b.accept(msg("m2"))
			b.env.SignalWorkflowSkippingWorkflowTask(protocol.MessageSignal, msg("m2"))
		}))
		require.NoError(t, b.run(msg("m1")))
		require.Equal(t, []string{"one", "two"}, b.posted())
	})

	t.Run("replies wait for an unavailable channel in order, turns and commands do not", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		release := b.channel.Block()
		b.script(
			say("one", func() { b.send(alone("m2")) }), hang(func() { b.send(cmd("c1", domain.CommandNew), alone("m3")) }),
			say("three", release))
		require.NoError(t, b.run(msg("m1")))
		require.Equal(t, []string{"m1 in m1", "m2 in m2", "c1 in c1", "m3 in m3"}, b.consumed("m1", "m2", "c1", "m3"))
		require.Equal(t, []string{"one", "New conversation.", "three"}, b.posted())
		require.Equal(t, []string{"Deliver o1", "Deliver oc1", "Deliver o3"}, b.started(protocol.DeliverActivity))
	})
}

func TestJoining(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		arrive  []protocol.MessageRef // during the first turn's first step
		want    []string
		replies []string
	}{
		{
			"messages of the same sender join at the next step",
			[]protocol.MessageRef{msg("m2"), msg("m3")},
			[]string{"m2 in m1", "m3 in m1"},
			[]string{"one"},
		},
		{
			"another sender's message waits, and all behind it",
			[]protocol.MessageRef{msg("m2"), bobs("m3"), msg("m4")},
			[]string{"m2 in m1", "m3 in m3", "m4 in m4"},
			[]string{"one", "two", "three"},
		},
		{
			"a message that is to be queued waits, and all behind it",
			[]protocol.MessageRef{alone("m2"), msg("m3")},
			[]string{"m2 in m2", "m3 in m3"},
			[]string{"one", "two", "three"},
		},
		{
			"a command between messages holds none of them",
			[]protocol.MessageRef{msg("m2"), cmd("c1", domain.CommandHelp), msg("m3")},
			[]string{"m2 in m1", "m3 in m1", "c1 in c1"},
			[]string{"help", "one"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.script(look(func() { b.send(tt.arrive...) }), say("one"), say("two"), say("three"))
			require.NoError(t, b.run(msg("m1")))
			var ids []string
			for _, w := range tt.want {
				ids = append(ids, w[:2])
			}
			require.Equal(t, tt.want, b.consumed(ids...))
			require.Len(t, b.posted(), len(tt.replies))
			require.Equal(t, tt.replies[len(tt.replies)-1], b.posted()[len(tt.replies)-1])
		})
	}

	t.Run("nothing joins a turn whose message was to be queued", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.script(look(func() { b.send(msg("m2")) }), say("one"), say("two"))
		require.NoError(t, b.run(alone("m1")))
		require.Equal(t, []string{"m2 in m2"}, b.consumed("m2"))
	})

	t.Run("messages beyond a step's limit join at later steps", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		burst := many(150)
		b.script(look(func() { b.send(burst...) }), look(), say("all"))
		require.NoError(t, b.run(msg("m1")))
		require.Equal(t, append([]string{"m1"}, idsOf(burst)...), b.users())
		require.Equal(t, []string{"all"}, b.posted())
		require.Equal(t, domain.TurnDone, b.turn("m1").Status)
	})
}

func TestCommands(t *testing.T) {
	t.Parallel()

	t.Run("/new during a turn starts a new conversation, and later messages are answered", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.script(
			hang(func() {
				b.send(msg("m2"), alone("m3"), cmd("c1", domain.CommandNew), msg("m4"))
			}),
			say("three"), say("four"))
		require.NoError(t, b.run(msg("m1")))
		require.Equal(t, []string{"New conversation.", "three", "four"}, b.posted())
		require.Equal(t, []string{"m3", "m4"}, b.users())
		for _, id := range []string{"m1", "m2"} {
			require.Equal(t, domain.TurnStopped, b.turn(id).Status)
		}
		require.Len(t, b.model.Requests()[1].Messages, 2, "the system prompt and the message")
	})

	t.Run("/new stops waiting messages", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.script(say("unused"))
		require.NoError(t, b.run(msg("m1"), cmd("c1", domain.CommandNew)))
		require.Equal(t, []string{"New conversation."}, b.posted())
		require.Equal(t, domain.TurnStopped, b.turn("m1").Status)
		require.Zero(t, b.model.Count())
	})

	t.Run("/new redelivered has one effect", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.script(say("one"), say("two"))
		fresh := cmd("c1", domain.CommandNew)
		require.NoError(t, b.run(fresh, fresh, msg("m1")))
		b.reopen()
		require.NoError(t, b.run(fresh, msg("m2")))
		require.Equal(t, []string{"m1", "m2"}, b.users())
		require.Equal(t, []string{"New conversation.", "one", "two"}, b.posted())
	})

	t.Run("/status reports running and waiting messages", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.script(look(), look(func() { b.send(alone("m2"), cmd("c1", domain.CommandStatus)) }), say("one"), say("two"))
		require.NoError(t, b.run(msg("m1")))
		require.Contains(t, b.turn("c1").Reply, "step 2")
		require.Contains(t, b.turn("c1").Reply, "waiting")
	})

	t.Run("whether a command waits for the turn is in the signal", func(t *testing.T) {
		t.Parallel()
		for _, immediate := range []bool{true, false} {
			b := setup(t)
			help := cmd("c1", domain.CommandHelp)
			help.Immediate = immediate
			b.script(look(func() { b.send(help) }), say("one"))
			require.NoError(t, b.run(msg("m1")))
			require.Equal(t, immediate, b.posted()[1] == "one")
		}
	})
}

func TestDuplicates(t *testing.T) {
	t.Parallel()

	t.Run("a waiting or recently seen message is dropped", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.script(look(func() { b.send(msg("m1"), alone("m2"), alone("m2")) }), say("one"), say("two", func() { b.send(msg("m1")) }))
		require.NoError(t, b.run(msg("m1"), msg("m1")))
		require.Equal(t, []string{"one", "two"}, b.posted())
		require.Equal(t, []string{"Complete m1 1", "Complete m1 2", "Complete m2 1"}, b.started(protocol.CompleteActivity))
	})

	t.Run("a message answered by an earlier run is not answered again", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.script(look(func() { b.send(msg("m2")) }), say("both"), say("new"))
		require.NoError(t, b.run(msg("m1")))
		b.reopen()
		require.NoError(t, b.run(alone("m1"), alone("m2"), msg("m3")))
		require.Equal(t, []string{"both", "new"}, b.posted())
		require.Equal(t, 3, b.model.Count())
	})

	endings := map[string]func(b *bench){
		"answered in one step":   func(b *bench) { b.script(say("one"), say("new")) },
		"answered in many steps": func(b *bench) { b.script(look(), say("one"), say("new")) },
		"stopped":                func(b *bench) { b.script(hang(func() { b.send(cmd("c1", domain.CommandStop)) }), say("new")) },
	}
	for name, script := range endings {
		t.Run("fresh messages behind one that was "+name+" by an earlier run are answered", func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			script(b)
			require.NoError(t, b.run(msg("m1")))
			before := b.model.Count()
			b.reopen()
			require.NoError(t, b.run(msg("m1"), msg("m2"), msg("m3")))
			require.Equal(t, []string{"m2 in m2", "m3 in m2"}, b.consumed("m2", "m3"))
			require.Equal(t, "new", b.turn("m2").Reply)
			require.Equal(t, before+1, b.model.Count())
			require.Len(t, b.posted(), 2)
		})
	}
}
