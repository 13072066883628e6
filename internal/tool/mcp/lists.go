package mcp

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/holdfast-ai/holdfast/internal/tool"
)

const (
	listTimeout = 30 * time.Second
	listLimit   = 1000 // entries of each list
)

// lists are the tools, resources and prompts of a server.
type lists struct {
	read      time.Time // zero: never
	tools     []tool.Tool
	resources []*sdk.Resource
	templates []*sdk.ResourceTemplate
	prompts   []*sdk.Prompt
}

// read updates the lists.
func (s *server) read(ctx context.Context, session *sdk.ClientSession) error {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	l, err := within(ctx, func() (lists, error) { return s.list(ctx, session) })
	if err != nil {
		return fmt.Errorf("list tools, resources and prompts: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists = l
	return nil
}

func (s *server) list(ctx context.Context, session *sdk.ClientSession) (l lists, err error) {
	l.read = time.Now()
	has := session.InitializeResult().Capabilities
	if has == nil {
		return l, nil
	}
	if has.Tools != nil {
		listed, err := collect(session.Tools(ctx, nil))
		if err != nil {
			return l, err
		}
		l.tools = s.tools(listed)
	}
	if has.Resources != nil {
		if l.resources, err = collect(session.Resources(ctx, nil)); err != nil {
			return l, err
		}
		// Servers without templates may not implement this.
		l.templates, _ = collect(session.ResourceTemplates(ctx, nil))
	}
	if has.Prompts != nil {
		l.prompts, err = collect(session.Prompts(ctx, nil))
	}
	return l, err
}

// collect returns the items up to listLimit, since a server's list may be endless.
func collect[T any](all iter.Seq2[T, error]) ([]T, error) {
	var items []T
	for item, err := range all {
		if err != nil {
			return nil, err
		}
		if items = append(items, item); len(items) == listLimit {
			break
		}
	}
	return items, nil
}

// tools converts the configured ones of the listed tools, sorted by name.
func (s *server) tools(listed []*sdk.Tool) []tool.Tool {
	tools := make([]tool.Tool, 0, len(listed))
	missing := slices.Clone(s.Tools)
	for _, t := range listed {
		if t.Name == "" || len(s.Tools) > 0 && !slices.Contains(s.Tools, t.Name) {
			continue
		}
		missing = slices.DeleteFunc(missing, func(name string) bool { return name == t.Name })
		tools = append(tools, s.tool(t))
	}
	if len(missing) > 0 {
		s.log.Warn("mcp server lacks configured tools", "missing", missing)
	}
	slices.SortFunc(tools, func(a, b tool.Tool) int { return strings.Compare(a.Spec.Name, b.Spec.Name) })
	return tools
}
