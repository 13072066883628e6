// Holdfast runs an agent whose every turn is a durable workflow.
package main

import (
	"os"

	_ "github.com/holdfast-ai/holdfast/internal/account"
	"github.com/holdfast-ai/holdfast/internal/command"
	_ "github.com/holdfast-ai/holdfast/internal/supervisor/early"
)

func main() {
	os.Exit(command.Main(os.Args[1:]))
}
