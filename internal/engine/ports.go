package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"syscall"

	"go.temporal.io/server/common/primitives"
)

// Ports are chosen below the range for outgoing connections (32768 on Linux), so that
// only another engine can take one between our check and the server's bind.
const (
	firstPort = 12_000
	lastPort  = 32_000
	portTries = 200
)

// portsMu is held from choosing ports until the server has bound them, so that engines
// of one process do not choose the same ones.
var portsMu sync.Mutex

// drawPorts chooses a port for each service; the frontend gets the one in opts. The
// caller holds portsMu until the server has bound them.
func drawPorts(ctx context.Context, opts Options) (services, error) {
	ports := services{}
	var held []net.Listener
	defer func() {
		for _, l := range held {
			_ = l.Close()
		}
	}()
	for _, name := range []primitives.ServiceName{
		primitives.FrontendService, primitives.HistoryService, primitives.MatchingService, primitives.WorkerService,
	} {
		host, port := loopback, 0
		if name == primitives.FrontendService {
			host, port = opts.Host, opts.Port
		}
		l, err := listen(ctx, host, port, "temporal.port")
		if err != nil {
			return nil, err
		}
		held = append(held, l)
		ports[name] = l.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}

// listen binds port, or a free one if it is 0. Key names the port's setting for error
// messages.
func listen(ctx context.Context, host string, port int, key string) (net.Listener, error) {
	var config net.ListenConfig
	if port != 0 {
		l, err := config.Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		return l, explainPort(err, port, key)
	}
	var err error
	for range portTries {
		var l net.Listener
		port = firstPort + rand.IntN(lastPort-firstPort)
		if l, err = config.Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port))); err == nil {
			return l, nil
		}
	}
	return nil, fmt.Errorf("engine: no free port on %s: %w", host, err)
}

func explainPort(err error, port int, key string) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("engine: port %d (%s) is in use; set %s to a free port: %w", port, key, key, err)
	}
	if err != nil {
		return fmt.Errorf("engine: port %d (%s): %w", port, key, err)
	}
	return nil
}
