// Package doctor checks what Holdfast needs on a machine: its config, directories,
// model, engine, store and channels. It changes nothing; only the MCP servers
// that it starts get their folders.
package doctor

import (
	"context"

	"github.com/holdfast-ai/holdfast/config"
)

// Run makes all checks in the environment and reports each finding as it is made.
func Run(ctx context.Context, environ []string, report func(Finding)) {
	d := &doctor{environ: environ, report: report}
	home, err := config.HomeDir(environ)
	if err != nil {
		d.fail("home", "set HOLDFAST_HOME to the folder to use", "%v", err)
		return
	}
	d.checkConfig(home)
	d.checkFolders()
	d.findRunning(ctx)
	d.checkModel(ctx)
	d.checkFallbacks(ctx)
	d.checkTranscription(ctx)
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
	d.checkProbes(ctx)
	d.checkPlatforms(ctx)
	d.checkTools()
	d.checkClock()
}
