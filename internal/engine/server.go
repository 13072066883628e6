package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/metrics"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/temporal"
)

const bindTries = 3

// server is the Temporal server and its state.
type server struct {
	address  string
	temporal temporal.Server
	quiet    atomic.Bool

	mu   sync.Mutex
	err  error
	done chan struct{}
}

// startServer builds the server, which binds its ports, and starts it.
func startServer(ctx context.Context, opts Options, db *config.SQL) (*server, error) {
	var s *server
	var err error
	for range bindTries {
		// Another process may have chosen the same port.
		if s, err = buildServer(ctx, opts, db); !errors.Is(err, syscall.EADDRINUSE) || opts.Port != 0 {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	if err := s.run(ctx, s.temporal.Start); err != nil {
		s.stop(stopTimeout)
		return nil, fmt.Errorf("engine: start server: %w", err)
	}
	return s, nil
}

func buildServer(ctx context.Context, opts Options, db *config.SQL) (*server, error) {
	portsMu.Lock()
	defer portsMu.Unlock()
	ports, err := drawPorts(ctx, opts)
	if err != nil {
		return nil, err
	}
	s := &server{address: reachable(opts.Host, ports[primitives.FrontendService]), done: make(chan struct{})}
	s.quiet.Store(true)
	err = s.run(ctx, func() (err error) {
		s.temporal, err = temporal.NewServer(serverOptions(opts, ports, db, s)...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("engine: build server: %w", err)
	}
	return s, nil
}

func serverOptions(opts Options, ports services, db *config.SQL, s *server) []temporal.ServerOption {
	hosts := map[primitives.ServiceName]static.Hosts{}
	for name := range ports {
		hosts[name] = static.SingleLocalHost(ports.address(name))
	}
	hosts[primitives.FrontendService] = static.SingleLocalHost(s.address)
	return []temporal.ServerOption{
		temporal.WithConfig(serverConfig(opts, ports, db)),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithStaticHosts(hosts),
		temporal.WithDynamicConfigClient(tuning(opts.HistoryLimit)),
		temporal.WithLogger(serverLog{logger: opts.Logger, quiet: &s.quiet, fatal: s.fail}),
		temporal.WithCustomMetricsHandler(metrics.NoopMetricsHandler),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper {
			return authorization.NewNoopClaimMapper()
		}),
	}
}

// run calls f on a goroutine, which a fatal error of the server may block.
func (s *server) run(ctx context.Context, f func() error) error {
	result := make(chan error, 1)
	go func() { result <- f() }()
	select {
	case err := <-result:
		return err
	case <-s.done:
		return s.failure()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// waitReady waits until the server serves the namespace.
func (s *server) waitReady(ctx context.Context, namespace string) error {
	conn, err := grpc.NewClient(s.address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.WaitForReady(true)))
	if err != nil {
		return fmt.Errorf("engine: connect to server: %w", err)
	}
	defer conn.Close()
	err = s.run(ctx, func() error {
		_, err := workflowservice.NewWorkflowServiceClient(conn).DescribeNamespace(ctx,
			&workflowservice.DescribeNamespaceRequest{Namespace: namespace})
		return err
	})
	if err != nil {
		return fmt.Errorf("engine: wait for server: %w", err)
	}
	s.quiet.Store(false)
	return nil
}

// fail records why the server failed.
func (s *server) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.done:
	default:
		s.err = err
		close(s.done)
	}
}

func (s *server) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// stop ends the server and abandons what is still running after limit.
func (s *server) stop(limit time.Duration) {
	s.quiet.Store(true)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		_ = s.temporal.Stop()
	}()
	select {
	case <-stopped:
	case <-time.After(limit):
	}
	s.fail(nil)
}
