package command

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	temporal "go.temporal.io/sdk/client"

	"github.com/holdfast-ai/holdfast/channels/http/client"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
)

var chaosFlags struct {
	faults int
	seed   uint64
	stop   time.Duration
}

func init() {
	flag.IntVar(&chaosFlags.faults, "chaos.faults", 0, "faults in each set-up of TestChaos; 0 skips it")
	flag.Uint64Var(&chaosFlags.seed, "chaos.seed", 0, "seed of TestChaos; 0: any")
	flag.DurationVar(&chaosFlags.stop, "chaos.stop", 40*time.Second, "how long TestChaos stops a process with SIGSTOP")
}

const (
	// roundFaults is how many faults a stack suffers before another takes its place.
	roundFaults = 50
	// speakers is how many sessions are at work at a time.
	speakers = 6
)

// TestChaos has processes, servers and the provider fail at random under load, and checks
// from outside that each message is answered once, rightly, in order and in time. Run it
// with `make chaos`.
func TestChaos(t *testing.T) {
	if chaosFlags.faults == 0 {
		t.Skip("run it with make chaos")
	}
	seed := chaosFlags.seed
	if seed == 0 {
		seed = rand.Uint64N(1_000_000)
	}
	t.Run("one machine", func(t *testing.T) { runChaos(t, seed, 10*time.Second, oneMachine) })
	t.Run("cluster", func(t *testing.T) { runChaos(t, seed, 15*time.Second, severalMachines) })
}

// chaosStack is a deployment, which the faults happen to.
type chaosStack struct {
	environ   []string // for commands that look into it
	apis      []string // URLs
	temporal  func(*testing.T) temporal.Client
	workspace string
	homes     []string // folders
	members   []*member
	faults    []chaosFault
}

// runChaos runs rounds of faults, each on a stack of its own and with the next seed.
func runChaos(t *testing.T, seed uint64, limit time.Duration, start func(*testing.T, *chaosRound) chaosStack) {
	slowest := map[string][]time.Duration{}
	for left := chaosFlags.faults; left > 0; left -= roundFaults {
		c := &chaosRound{limit: limit, seed: seed, faults: min(left, roundFaults)}
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { c.run(t, start) })
		c.slowest(slowest)
		seed++
	}
	t.Log(chaosFigures(slowest))
}

// chaosRound is a stack, its load and its faults.
type chaosRound struct {
	seed   uint64
	faults int
	limit  time.Duration // that one fault may delay a message
	binary string        // of all processes; empty: [binary]
	model  *chaosModel
	logs   string // folder of the logs of the processes
	stack  chaosStack
	load   chaosLoad
	struck []struck

	mu       sync.Mutex
	problems []chaosProblem
}

func (c *chaosRound) run(t *testing.T, start func(*testing.T, *chaosRound) chaosStack) {
	t.Helper()
	c.open(t, start)
	defer c.report(t)
	var speaking sync.WaitGroup
	quiet := make(chan struct{})
	for i := range speakers {
		random := rand.New(rand.NewPCG(c.seed, uint64(i)+1))
		speaking.Go(func() { c.load.speak(t.Context(), quiet, i, random) })
	}
	c.rage(t.Context(), rand.New(rand.NewPCG(c.seed, 0)))
	close(quiet)
	speaking.Wait()
	c.check(t)
}

// open starts the stack.
func (c *chaosRound) open(t *testing.T, start func(*testing.T, *chaosRound) chaosStack) {
	t.Helper()
	c.logs = filepath.Join(os.TempDir(), fmt.Sprintf("holdfast-chaos-%d-%d", c.seed, os.Getpid()))
	require.NoError(t, os.MkdirAll(c.logs, 0o700))
	c.model = &chaosModel{}
	c.model.Server = llmtest.NewFunc(t, c.model.decide)
	c.stack = start(t, c)
	c.stack.faults = append(c.stack.faults, providerFaults(c.model)...)
	c.load.problem = c.problem
	if c.load.decides == nil {
		open := make(chan struct{})
		close(open)
		c.load.decides = open
	}
	for _, url := range c.stack.apis {
		c.load.apis = append(c.load.apis, client.New(url, ""))
	}
}

// rage lets the faults happen, some of them right after another.
func (c *chaosRound) rage(ctx context.Context, random *rand.Rand) {
	for range c.faults {
		if random.IntN(5) > 0 {
			select {
			case <-time.After(2*time.Second + time.Duration(random.Int64N(int64(4*time.Second)))):
			case <-ctx.Done():
				return
			}
		}
		s := struck{chaosFault: c.stack.faults[random.IntN(len(c.stack.faults))], at: time.Now()}
		s.strike(random)
		s.until = time.Now()
		c.struck = append(c.struck, s)
	}
}

// oneMachine is `holdfast up`.
func oneMachine(t *testing.T, c *chaosRound) chaosStack {
	h := newHome(t, c.model.URL)
	c.configure(t, h)
	api := freeAddress(t)
	h.environ = append(h.environ, "HOLDFAST_CHANNELS_HTTP_LISTEN="+api)
	up := &member{home: h, process: h.start(t), role: "up"}
	return chaosStack{
		environ: h.environ, apis: []string{"http://" + api}, workspace: h.workspace(""), homes: []string{h.dir},
		temporal: func(t *testing.T) temporal.Client { return up.temporal(t) },
		faults:   memberFaults(t, "up", up, chaosFault{outage: true}),
	}
}

// severalMachines is a cluster of two workers and two starters.
func severalMachines(t *testing.T, c *chaosRound) chaosStack {
	cluster := startCluster(t, c.model.URL, func(h *home) { c.configure(t, h) })
	stack := chaosStack{
		workspace: cluster.workspace, temporal: func(t *testing.T) temporal.Client { return cluster.engine.temporal(t) },
		faults: append(memberFaults(t, "engine", cluster.engine, chaosFault{outage: true}), postgresFaults(t)...),
	}
	for i := range 2 {
		worker, starter := cluster.add(t, "worker"), cluster.add(t, "starter")
		stack.faults = append(stack.faults, memberFaults(t, fmt.Sprintf("worker %d", i+1), worker, chaosFault{pauses: true})...)
		stack.faults = append(stack.faults, memberFaults(t, fmt.Sprintf("starter %d", i+1), starter, chaosFault{})...)
		stack.apis = append(stack.apis, starter.info.API)
		stack.members = append(stack.members, worker, starter)
		stack.homes = append(stack.homes, worker.dir)
		stack.environ = starter.environ
	}
	return stack
}

// configure sets what all processes have in common, and has them log to a file.
func (c *chaosRound) configure(t *testing.T, h *home) {
	t.Helper()
	log, err := os.CreateTemp(c.logs, "*.log")
	require.NoError(t, err)
	t.Cleanup(func() { _ = log.Close() })
	h.log, h.binary = log, c.binary
	h.environ = append(h.environ, "HOLDFAST_AGENT_MID_TURN=queue", "HOLDFAST_HEARTBEAT_ENABLED=false",
		"HOLDFAST_APPROVALS_RULES=ask exec *# ask,ask exec *# deny")
}
