package mcp

import (
	"context"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Connect implements [sdk.Transport].
func (p *process) Connect(ctx context.Context) (sdk.Connection, error) {
	if err := p.start(); err != nil {
		return nil, err
	}
	transport := &sdk.IOTransport{Reader: output{p}, Writer: input{p}, MaxLineLength: -1} // messages has a limit
	connection, err := transport.Connect(ctx)
	return pipe{connection}, err
}

// pipe notes what was sent. A message that was not written whole is not served.
type pipe struct{ sdk.Connection }

// Write implements [sdk.Connection].
func (p pipe) Write(ctx context.Context, message jsonrpc.Message) error {
	sent := sentMark(ctx)
	sent.Add(1)
	err := p.Connection.Write(ctx, message)
	if err != nil {
		sent.Add(-1)
	}
	return err
}

// output is the process's standard output. It stays open as long as the process,
// which may write while it ends.
type output struct{ *process }

// Read implements [io.Reader].
func (o output) Read(into []byte) (int, error) {
	n, err := o.messages.Read(into)
	if err != nil && !errors.Is(err, errTooLarge) {
		o.left.Store(true)
	}
	return n, err
}

// Close implements [io.Closer].
func (o output) Close() error {
	go func() {
		<-o.exited
		o.stdout.Close()
	}()
	return nil
}

// input is the process's standard input. Closing it ends the process.
type input struct{ *process }

func (i input) Write(data []byte) (int, error) { return i.stdin.Write(data) }

func (i input) Close() error {
	go i.end()
	return nil
}
