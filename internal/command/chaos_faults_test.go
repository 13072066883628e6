package command

import (
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/store/storetest"
)

// chaosFault is something that goes wrong for a while.
type chaosFault struct {
	kind   string           // such as "kill -9"
	target string           // such as "worker 1"
	outage bool             // no turn can go on while it lasts
	pauses bool             // a command may have to be waited for while it lasts
	strike func(*rand.Rand) // returns when it is over
}

func (f chaosFault) String() string { return f.kind + " " + f.target }

// struck is a fault that happened.
type struck struct {
	chaosFault
	at, until time.Time
}

// memberFaults returns what may happen to a process of that name. Stopped is the template
// of the fault that stops it for a while.
func memberFaults(t *testing.T, name string, m *member, stopped chaosFault) []chaosFault {
	restart := func() {
		m.restart(t)
		select {
		case <-m.exited:
			t.Fatalf("%s ended at its start", name)
		default:
		}
	}
	kill := chaosFault{kind: "kill -9", target: name, strike: func(*rand.Rand) {
		m.kill()
		restart()
	}}
	again := chaosFault{kind: "kill -9 twice", target: name, strike: func(random *rand.Rand) {
		m.kill()
		starting := m.launch(t, m.role)
		select {
		case <-starting.ready:
		case <-time.After(time.Duration(random.Int64N(int64(time.Second)))):
		}
		starting.kill()
		restart()
	}}
	term := chaosFault{kind: "SIGTERM", target: name, strike: func(*rand.Rand) {
		m.terminate(t)
		restart()
	}}
	stopped.kind, stopped.target = "SIGSTOP", name
	stopped.strike = func(*rand.Rand) {
		m.signal(t, syscall.SIGSTOP)
		time.Sleep(chaosFlags.stop)
		m.signal(t, syscall.SIGCONT)
	}
	return append(slices.Repeat([]chaosFault{kill, again, term}, 3), stopped)
}

// providerFaults returns what may happen to the provider of the model.
func providerFaults(m *chaosModel) []chaosFault {
	var faults []chaosFault
	for _, fault := range []struct {
		kind string
		step llmtest.Step
	}{
		{"429", llmtest.Status(429, "1")},
		{"500", llmtest.Status(500, "")},
		{"cut stream", llmtest.CutStream("half an answer", 2)},
		{"hang", llmtest.Hang()},
	} {
		faults = append(faults, chaosFault{kind: fault.kind, target: "provider", outage: true, strike: func(random *rand.Rand) {
			m.breakWith(fault.step)
			time.Sleep(time.Duration(1+random.IntN(3)) * time.Second)
			m.repair()
		}})
	}
	return faults
}

// postgresFaults returns what may happen to the Postgres server.
func postgresFaults(t *testing.T) []chaosFault {
	var faults []chaosFault
	for kind, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT} {
		faults = append(faults, chaosFault{kind: []string{"restart", "crash"}[kind], target: "Postgres", strike: func(*rand.Rand) {
			storetest.Restart(t, signal)
		}})
	}
	return slices.Repeat(faults, 3)
}
