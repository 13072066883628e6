// Package early runs supervisor processes before most of the program is initialized.
// Import it for this side effect, in main only.
package early

import (
	"os"

	"github.com/holdfast-ai/holdfast/internal/supervisor"
)

// Initializing the engine's dependencies takes most of the program's start-up time.
// Without them a supervisor starts in 13 ms instead of 75, with a third of the
// memory. Go initializes packages in the order of their import paths, as far as
// dependencies allow, and this package has few.
func init() {
	if len(os.Args) > 1 && os.Args[1] == supervisor.Subcommand {
		os.Exit(supervisor.Main(os.Args[2:]))
	}
}
