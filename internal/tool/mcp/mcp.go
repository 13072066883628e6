// Package mcp has the tools of other people's servers, which speak the Model
// Context Protocol: over the standard streams of a process of ours, or over
// streamable HTTP.
package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-ai/holdfast/internal/tool"
)

const (
	defaultTimeout = time.Minute
	defaultVersion = "dev"
	// patience is how long after the start the first question for tools waits for
	// servers that are not up yet.
	patience = 3 * time.Second
)

// Server says how to reach a server: by Command, or by URL.
type Server struct {
	Name    string            // in the names of its tools, and in logs
	Command string            // started by us, spoken to over its standard streams
	Args    []string          // of Command
	Env     map[string]string // added to Command's environment, which has nothing else of ours that is secret
	Dir     string            // where Command runs; empty: Options.Dir
	URL     string            // its streamable HTTP endpoint; any address, loopback too
	Headers map[string]string // sent with each request to URL
	Timeout time.Duration     // of a call; 0: one minute
	Tools   []string          // the only tools to take, as the server names them; empty: all
}

// Options is what the tools of MCP servers need.
type Options struct {
	Servers []Server
	Dir     string // where commands run that name no folder; absolute
	Version string // ours, which servers are told
	Logger  *slog.Logger
}

// Servers are the MCP servers of an agent. Its methods may be called by several
// goroutines.
type Servers struct {
	log      *slog.Logger
	servers  []*server // sorted by name
	features []feature // tools for what is no tool
	started  time.Time
	stop     context.CancelFunc
	running  sync.WaitGroup
}

// New begins to connect to the servers, in the background, and returns at once:
// one that cannot be reached is tried again later, and whenever it is used. An
// error says that a server is described wrongly. The caller calls Close.
func New(o Options) (*Servers, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Version = cmp.Or(o.Version, defaultVersion)
	s := &Servers{log: o.Logger, started: time.Now()}
	names := make([]string, 0, len(o.Servers))
	for _, described := range o.Servers {
		if err := described.check(); err != nil {
			return nil, fmt.Errorf("mcp server %q: %w", described.Name, err)
		}
		names = append(names, described.Name)
	}
	slices.Sort(names)
	if len(slices.Compact(slices.Clone(names))) < len(names) {
		return nil, errors.New("mcp servers: two have the same name")
	}
	for _, described := range o.Servers {
		s.servers = append(s.servers, newServer(o, described, names))
	}
	slices.SortFunc(s.servers, func(a, b *server) int { return strings.Compare(a.Name, b.Name) })
	features, err := s.newFeatures()
	if err != nil {
		return nil, err
	}
	s.features = features
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	for _, each := range s.servers {
		s.running.Go(func() { each.run(ctx) })
	}
	return s, nil
}

func (s Server) check() error {
	switch {
	case s.Name == "":
		return errors.New("it has no name")
	case (s.Command == "") == (s.URL == ""):
		return errors.New("it needs a command or a URL, and not both")
	case s.URL == "":
		return nil
	}
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return errors.New("its URL is not one of http or https")
	}
	return nil
}

// Tools returns the tools that are known now, sorted by server and name. Right
// after New it waits, for three seconds at most, for servers that were not tried
// yet; later never. A server that went away keeps its tools: using one brings it
// back.
func (s *Servers) Tools(ctx context.Context) []tool.Tool {
	s.wait(ctx)
	var tools []tool.Tool
	taken := map[string]bool{}
	for _, each := range s.servers {
		for _, t := range each.known().tools {
			if taken[t.Spec.Name] {
				s.log.Warn("mcp tool left out, its name is taken", "server", each.Name, "tool", t.Spec.Name)
				continue
			}
			taken[t.Spec.Name] = true
			tools = append(tools, t)
		}
	}
	for _, f := range s.features {
		if servers := s.having(f); len(servers) > 0 {
			tools = append(tools, f.of(servers))
		}
	}
	return tools
}

// Lookup returns the tool of that name. For a server that was not reached since
// the start it returns one that waits for it: an earlier process may have begun
// the call, which must not be told as one of an unknown tool.
func (s *Servers) Lookup(ctx context.Context, name string) (tool.Tool, bool) {
	for _, t := range s.Tools(ctx) {
		if t.Spec.Name == name {
			return t, true
		}
	}
	var awaited []*server
	for _, each := range s.servers {
		if strings.HasPrefix(name, prefix(each.Name)) && each.known().read.IsZero() {
			awaited = append(awaited, each)
		}
	}
	return awaitedTool(name, awaited), len(awaited) > 0
}

// Close ends all connections, and the processes that were started. It takes a few
// seconds at most.
func (s *Servers) Close() {
	s.stop()
	s.running.Wait()
}

// wait waits until each server was tried once, or for what is left of the patience.
func (s *Servers) wait(ctx context.Context) {
	ctx, cancel := context.WithDeadline(ctx, s.started.Add(patience))
	defer cancel()
	for _, each := range s.servers {
		select {
		case <-each.tried:
		case <-ctx.Done():
			return
		}
	}
}
