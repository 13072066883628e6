package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

var (
	readOnly   = &sdk.ToolAnnotations{ReadOnlyHint: true}
	idempotent = &sdk.ToolAnnotations{IdempotentHint: true}
	harmless   = &sdk.ToolAnnotations{DestructiveHint: new(bool)}
)

// enormous stands for a text that is longer than a message may be.
const enormous = "ENORMOUS"

// fake is a server whose tools behave in all kinds of ways.
type fake struct {
	*sdk.Server
	folder string // where it writes things down
}

// handler runs a tool of the fake.
type handler func(ctx context.Context, request *sdk.CallToolRequest, arguments map[string]string) (*sdk.CallToolResult, error)

func newFake(folder string) *fake {
	f := &fake{
		Server: sdk.NewServer(&sdk.Implementation{Name: "fake", Version: "1"}, nil),
		folder: folder,
	}
	f.note("pid", strconv.Itoa(os.Getpid()))
	f.note("dir", workingDir())
	f.tool("echo", readOnly, func(_ context.Context, _ *sdk.CallToolRequest, a map[string]string) (*sdk.CallToolResult, error) {
		return said(a["text"]), nil
	})
	f.tool("write", nil, func(_ context.Context, _ *sdk.CallToolRequest, a map[string]string) (*sdk.CallToolResult, error) {
		f.note("written", a["text"])
		return said("written"), nil
	})
	f.tool("environment", readOnly, func(context.Context, *sdk.CallToolRequest, map[string]string) (*sdk.CallToolResult, error) {
		return said(strings.Join(os.Environ(), "\n")), nil
	})
	for name, hints := range map[string]*sdk.ToolAnnotations{"hang": nil, "hang_read": readOnly} {
		f.tool(name, hints, func(ctx context.Context, _ *sdk.CallToolRequest, _ map[string]string) (*sdk.CallToolResult, error) {
			f.note("hanging", name)
			<-ctx.Done()
			f.note("cancelled", name)
			return nil, ctx.Err()
		})
	}
	for name, hints := range map[string]*sdk.ToolAnnotations{"die": nil, "die_again": idempotent} {
		f.tool(name, hints, func(context.Context, *sdk.CallToolRequest, map[string]string) (*sdk.CallToolResult, error) {
			if _, err := os.Stat(filepath.Join(f.folder, name)); err == nil && hints != nil {
				return said("alive"), nil
			}
			f.note(name, "died")
			fmt.Fprintln(os.Stderr, "cannot go on")
			os.Exit(3)
			return nil, nil
		})
	}
	f.tool("await", nil, func(ctx context.Context, _ *sdk.CallToolRequest, a map[string]string) (*sdk.CallToolResult, error) {
		f.note("awaiting", a["text"])
		for ctx.Err() == nil {
			if _, err := os.Stat(filepath.Join(f.folder, a["text"])); err == nil {
				return said("gone"), nil
			}
			time.Sleep(tick)
		}
		f.note("cancelled", "await")
		return nil, ctx.Err()
	})
	f.tool("freeze", nil, func(context.Context, *sdk.CallToolRequest, map[string]string) (*sdk.CallToolResult, error) {
		return nil, syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	})
	f.tool("child", nil, func(context.Context, *sdk.CallToolRequest, map[string]string) (*sdk.CallToolResult, error) {
		cmd := exec.Command("sleep", "1000")
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		return said(strconv.Itoa(cmd.Process.Pid)), nil
	})
	f.tool("large", readOnly, func(_ context.Context, _ *sdk.CallToolRequest, a map[string]string) (*sdk.CallToolResult, error) {
		var size int
		if _, err := fmt.Sscan(a["text"], &size); err != nil {
			return nil, err
		}
		return said(strings.Repeat("x", size)), nil
	})
	f.tool("print", readOnly, func(_ context.Context, _ *sdk.CallToolRequest, a map[string]string) (*sdk.CallToolResult, error) {
		// Many servers print to standard output by mistake.
		fmt.Println(strings.ReplaceAll(a["text"], enormous, strings.Repeat("x", 17_000_000)))
		return said("printed"), nil
	})
	f.tool("fail", harmless, func(context.Context, *sdk.CallToolRequest, map[string]string) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: "no such thing"}}}, nil
	})
	f.tool("grow", nil, func(context.Context, *sdk.CallToolRequest, map[string]string) (*sdk.CallToolResult, error) {
		f.tool("grown", readOnly, func(context.Context, *sdk.CallToolRequest, map[string]string) (*sdk.CallToolResult, error) {
			return said("new"), nil
		})
		f.RemoveTools("fail")
		return said("grown"), nil
	})
	f.tool("progress", readOnly, func(ctx context.Context, request *sdk.CallToolRequest, _ map[string]string) (*sdk.CallToolResult, error) {
		token := request.Params.GetProgressToken()
		for _, p := range []*sdk.ProgressNotificationParams{{Message: "half", Progress: 1}, {Progress: 2, Total: 2}} {
			p.ProgressToken = token
			if err := request.Session.NotifyProgress(ctx, p); err != nil {
				return nil, err
			}
		}
		<-ctx.Done()
		return nil, ctx.Err()
	})
	return f
}

// tool adds a tool that takes a text.
func (f *fake) tool(name string, hints *sdk.ToolAnnotations, run handler) {
	f.AddTool(&sdk.Tool{
		Name: name, Description: "Does " + name + ".", Annotations: hints,
		InputSchema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"additionalProperties":false}`),
	}, func(ctx context.Context, request *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		var arguments map[string]string
		if err := json.Unmarshal(request.Params.Arguments, &arguments); err != nil {
			return nil, err
		}
		return run(ctx, request, arguments)
	})
}

// note writes a line into a file of the folder.
func (f *fake) note(file, line string) {
	opened, err := os.OpenFile(filepath.Join(f.folder, file), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer opened.Close()
	if _, err := fmt.Fprintln(opened, line); err != nil {
		panic(err)
	}
}

func workingDir() string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	return dir
}

func said(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}
