package command

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/config"
)

func doctorCommand(s setting) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check everything that holdfast needs, and say what to do about what is wrong",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := &doctor{environ: s.environ, w: cmd.OutOrStdout()}
			d.examine(cmd.Context())
			if d.failed > 0 {
				return errSilent
			}
			return nil
		},
	}
}

// doctor looks at one thing after the other and prints what it finds. It makes
// and changes nothing.
type doctor struct {
	environ []string
	w       io.Writer
	cfg     config.Config // defaults where the config is broken
	running runInfo       // the process that runs the home; zero: none does
	stored  bool          // there is a store, with tables as this holdfast has them
	warned  int
	failed  int
}

func (d *doctor) examine(ctx context.Context) {
	home, err := config.HomeDir(d.environ)
	if err != nil {
		d.fail("home", "set HOLDFAST_HOME to the folder to use", "%v", err)
		return
	}
	d.checkConfig(home)
	d.checkFolders()
	d.findRunning(ctx)
	d.checkModel(ctx)
	d.checkFallbacks(ctx)
	d.checkMCP(ctx)
	if d.cfg.Temporal.Address != "" {
		d.checkTemporal(ctx)
	} else {
		d.checkEngine(ctx)
	}
	d.checkStore(ctx)
	d.checkMemory(ctx)
	d.checkSkills()
	d.checkAPI(ctx)
	d.checkSlack(ctx)
	d.checkTools()
	d.checkClock()
	switch {
	case d.failed > 0:
		fmt.Fprintf(d.w, "\n%d failed, %d to be aware of\n", d.failed, d.warned)
	case d.warned > 0:
		fmt.Fprintf(d.w, "\nnothing failed, %d to be aware of\n", d.warned)
	default:
		fmt.Fprintln(d.w, "\nall is well")
	}
}

func (d *doctor) ok(what, finding string, args ...any) {
	d.print("ok", what, fmt.Sprintf(finding, args...))
}

// warn reports what works and may surprise; do is what to do about it.
func (d *doctor) warn(what, do, finding string, args ...any) {
	d.warned++
	d.print("warn", what, fmt.Sprintf(finding, args...))
	fmt.Fprintf(d.w, "      do: %s\n", printable(do))
}

// fail reports what does not work; do is what to do about it.
func (d *doctor) fail(what, do, finding string, args ...any) {
	d.failed++
	d.print("fail", what, fmt.Sprintf(finding, args...))
	fmt.Fprintf(d.w, "      do: %s\n", printable(do))
}

func (d *doctor) print(level, what, finding string) {
	fmt.Fprintf(d.w, "%-4s  %-10s  %s\n", level, what, printable(strings.Join(strings.Fields(finding), " ")))
}
