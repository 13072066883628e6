package doctor

import (
	"context"
	"log/slog"
	"net"
	"os/exec"
	"time"

	"github.com/holdfast-ai/holdfast/channels/http/client"
	"github.com/holdfast-ai/holdfast/internal/store"
)

const (
	storePatience = 15 * time.Second
	apiPatience   = 3 * time.Second
	// clockTolerance is how far another machine's clock may be ahead.
	clockTolerance = 2 * time.Minute
)

// checkStore looks at the database of messages and replies.
func (d *doctor) checkStore(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	dsn := d.cfg.StoreDSN()
	c, err := store.Inspect(ctx, dsn)
	where := dsn
	if d.cfg.Store.DSN != "" {
		where = "store.dsn"
	}
	switch {
	case err != nil && d.cfg.Store.DSN != "":
		d.fail("store", "check store.dsn, that the server runs, and what its user may do", "%v", err)
	case err != nil:
		d.fail("store", "make it readable and writable; a damaged file has to be moved away, with its -wal and -shm files, or restored from a backup", "%v", err)
	case !c.Exists, c.Version == 0:
		d.ok("store", "%s is empty; the first start makes its tables", where)
	case c.Version > c.Latest:
		d.fail("store", "use the newer holdfast", "%s is version %d, made by a newer holdfast; this one knows %d", where, c.Version, c.Latest)
	case c.Version < c.Latest:
		d.warn("store", "make a copy of it first if you may want to go back", "%s is version %d; the next start brings it to %d", where, c.Version, c.Latest)
	default:
		d.stored = true
		d.ok("store", "%s can be written, version %d: %d sessions, %d turns, %d messages waiting", where, c.Version, c.Sessions, c.Turns, c.Waiting)
	}
	if c.UsedAt.After(time.Now().Add(clockTolerance)) {
		d.warn("clock", "set the clock", "it is behind: the store was used at %s", localTime(c.UsedAt))
	}
}

// checkAPI looks at the HTTP channel.
func (d *doctor) checkAPI(ctx context.Context) {
	settings := d.cfg.Channels.HTTP
	token := "no token, which is safe on loopback"
	if settings.Token != "" {
		token = "with a token"
	}
	if d.running.API != "" {
		ctx, cancel := context.WithTimeout(ctx, apiPatience)
		defer cancel()
		health, err := client.New(d.running.API, settings.Token.Reveal()).Health(ctx)
		if err != nil {
			d.fail("API", "see what the running process logs", "%s does not answer: %v", d.running.API, err)
			return
		}
		d.ok("API", "%s answers, version %s, %s", d.running.API, health.Version, token)
		return
	}
	if !settings.Enabled {
		d.ok("API", "is off (channels.http.enabled)")
		return
	}
	if err := free(ctx, settings.Listen); err != nil {
		ctx, cancel := context.WithTimeout(ctx, apiPatience)
		defer cancel()
		if health, answer := client.New("http://"+settings.Listen, settings.Token.Reveal()).Health(ctx); answer == nil {
			d.ok("API", "a holdfast answers at %s already, version %s: a starter of this home, or that of another", settings.Listen, health.Version)
			return
		}
		d.fail("API", "end the program that has it, or set channels.http.listen to another", "it cannot listen on %s: %v", settings.Listen, err)
		return
	}
	if _, port, err := net.SplitHostPort(settings.Listen); err == nil && port == "0" {
		d.ok("API", "will listen on any free port, %s", token)
		return
	}
	d.ok("API", "%s is free to listen on, %s", settings.Listen, token)
}

// checkTools looks for what the agent's tools need of this machine.
func (d *doctor) checkTools() {
	if path, err := exec.LookPath("bash"); err == nil {
		d.ok("shell", "%s", path)
	} else if path, err := exec.LookPath("/bin/sh"); err == nil {
		d.warn("shell", "install bash", "there is no bash: commands run in %s, which models know less well", path)
	} else {
		d.fail("shell", "install bash", "there is neither bash nor /bin/sh: the agent can run no commands")
	}
	if path, err := exec.LookPath("git"); err == nil {
		d.ok("git", "%s", path)
	} else {
		d.warn("git", "install git if the agent is to work on code", "there is no git")
	}
	if abi, err := landlock(); err == nil {
		d.ok("kernel", "has Landlock, version %d", abi)
	} else {
		d.warn("kernel", "boot a Linux kernel of 5.13 or newer with landlock in its lsm= setting, or let the agent work in a container or a virtual machine",
			"has no Landlock to confine commands with: %v", err)
	}
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }
