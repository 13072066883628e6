// Package mcp offers the tools of MCP servers, which it reaches over the standard
// streams of a child process or over streamable HTTP.
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
	// startupWait is how long after New a request for tools waits for servers that
	// are still starting.
	startupWait = 3 * time.Second
)

// Server configures a server, reached by Command or by URL.
type Server struct {
	Name    string            // part of its tools' names and of log records
	Command string            // program to start and speak to over its standard streams
	Args    []string          // of Command
	Env     map[string]string // added to Command's environment, which has no secrets of ours
	Dir     string            // working directory of Command; empty: its folder in Options.Dir
	URL     string            // streamable HTTP endpoint; any address, including loopback
	Headers map[string]string // sent with each request to URL
	Timeout time.Duration     // of a call; 0: one minute
	Tools   []string          // tools to offer, by the server's names; empty: all
}

// Options configure [New].
type Options struct {
	Servers []Server
	// Dir has a folder for each server that is a command: its HOME and, unless
	// configured, its working directory. Programs run and obey what they find there, so
	// the agent must not be able to write to it. Absolute; created if needed.
	Dir     string
	Version string // our version, reported to servers
	// Places and Place are set if other processes have the same servers: Place is where
	// those of this process run that are commands.
	Places Places
	Place  string
	Logger *slog.Logger
}

// Servers are the MCP servers of an agent. Safe for concurrent use.
type Servers struct {
	log      *slog.Logger
	servers  []*server // sorted by name
	features []feature // tools for resources and prompts
	home     *home     // nil if no other process has these servers
	started  time.Time
	stop     context.CancelFunc
	running  sync.WaitGroup
}

// New starts connecting to the servers in the background and returns immediately. A
// server that cannot be reached is tried again later, and whenever it is used. The
// error reports an invalid configuration. The caller must call Close.
func New(o Options) (*Servers, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Version = cmp.Or(o.Version, defaultVersion)
	s := &Servers{log: o.Logger, started: time.Now()}
	if o.Places != nil {
		s.home = &home{places: o.Places, here: o.Place, log: o.Logger}
	}
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
		s.servers = append(s.servers, newServer(o, described, names, s.home))
	}
	slices.SortFunc(s.servers, func(a, b *server) int { return strings.Compare(a.Name, b.Name) })
	s.features = s.newFeatures()
	for _, f := range s.features {
		if err := f.Err(); err != nil {
			return nil, err
		}
	}
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
		return errors.New("name is required")
	case (s.Command == "") == (s.URL == ""):
		return errors.New("set either command or url")
	case s.URL == "":
		return nil
	}
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return errors.New("url must be an http or https URL")
	}
	return nil
}

// Tools returns the known tools, sorted by server and name. During the first three
// seconds after New it waits for servers that are still starting. A server that
// went away keeps its tools; using one reconnects it.
func (s *Servers) Tools(ctx context.Context) []tool.Tool {
	s.wait(ctx)
	var tools []tool.Tool
	taken := map[string]bool{}
	for _, each := range s.servers {
		for _, t := range each.known().tools {
			if taken[t.Spec.Name] {
				s.log.Warn("mcp tool skipped: name already in use", "server", each.Name, "tool", t.Spec.Name)
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

// Lookup returns the tool of that name. For a server that was not reached yet, it
// returns a tool that waits for the server: an earlier process may have started the
// call, so it must not fail as an unknown tool.
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
	awaiting := awaitedTool(name, awaited)
	if slices.ContainsFunc(awaited, (*server).placed) {
		awaiting.Place = s.home.place(always)
	}
	return awaiting, len(awaited) > 0
}

// Close ends all connections and server processes, within a few seconds.
func (s *Servers) Close() {
	s.stop()
	s.running.Wait()
}

// wait waits until each server was tried once or startupWait is over.
func (s *Servers) wait(ctx context.Context) {
	ctx, cancel := context.WithDeadline(ctx, s.started.Add(startupWait))
	defer cancel()
	for _, each := range s.servers {
		select {
		case <-each.first.done:
		case <-ctx.Done():
			return
		}
	}
}
