package doctor

import (
	"context"
	"net"
	"os/exec"
	"time"

	"github.com/holdfast-ai/holdfast/channels/http/client"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// clockTolerance is the accepted difference to another machine's clock.
const clockTolerance = 2 * time.Minute

// checkStore checks the database.
func (d *doctor) checkStore(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	dsn := d.cfg.StoreDSN()
	c, err := store.Inspect(ctx, dsn)
	where := dsn
	if d.cfg.Store.DSN != "" {
		where = "store.dsn"
	}
	switch {
	case err != nil && d.cfg.Store.DSN != "":
		d.fail("store", "check store.dsn, that the server is running, and the permissions of its user", "%v", err)
	case err != nil:
		d.fail("store", "make it readable and writable; move a damaged file away, with its -wal and -shm files, or restore a backup", "%v", err)
	case !c.Exists, c.Version == 0:
		d.ok("store", "%s is empty; the first start creates its tables", where)
	case c.Version > c.Latest:
		d.fail("store", "use the newer holdfast", "%s has schema version %d of a newer holdfast; this one supports %d", where, c.Version, c.Latest)
	case c.Version < c.Latest:
		d.warn("store", "back it up first if you may want to downgrade", "%s has schema version %d; the next start migrates it to %d", where, c.Version, c.Latest)
	default:
		d.stored = true
		d.ok("store", "%s is writable, version %d: %d sessions, %d turns, %d messages waiting", where, c.Version, c.Sessions, c.Turns, c.Waiting)
	}
	if c.UsedAt.After(time.Now().Add(clockTolerance)) {
		d.warn("clock", "set the clock", "it is slow: the store was last used at %s", localTime(c.UsedAt))
	}
}

// checkAPI checks the HTTP channel.
func (d *doctor) checkAPI(ctx context.Context) {
	settings := d.cfg.Channels.HTTP
	token := "no token, which is safe on loopback"
	if settings.Token != "" {
		token = "with a token"
	}
	if d.running.API != "" {
		ctx, cancel := context.WithTimeout(ctx, apiTimeout)
		defer cancel()
		health, err := client.New(d.running.API, settings.Token.Reveal()).Health(ctx)
		if err != nil {
			d.fail("API", "check the log of the running process", "%s does not answer: %v", d.running.API, err)
			return
		}
		d.ok("API", "%s answers, version %s, %s", d.running.API, health.Version, token)
		return
	}
	if !settings.Enabled {
		d.ok("API", "disabled (channels.http.enabled)")
		return
	}
	if err := free(ctx, settings.Listen); err != nil {
		ctx, cancel := context.WithTimeout(ctx, apiTimeout)
		defer cancel()
		if health, answer := client.New("http://"+settings.Listen, settings.Token.Reveal()).Health(ctx); answer == nil {
			d.ok("API", "holdfast already answers at %s, version %s: a starter of this or another home", settings.Listen, health.Version)
			return
		}
		d.fail("API", "stop the program that uses it, or set channels.http.listen to another address", "it cannot listen on %s: %v", settings.Listen, err)
		return
	}
	if _, port, err := net.SplitHostPort(settings.Listen); err == nil && port == "0" {
		d.ok("API", "will listen on any free port, %s", token)
		return
	}
	d.ok("API", "%s is free to listen on, %s", settings.Listen, token)
}

// checkTools checks what the agent's tools need from this machine.
func (d *doctor) checkTools() {
	if path, err := exec.LookPath("bash"); err == nil {
		d.ok("shell", "%s", path)
	} else if path, err := exec.LookPath("/bin/sh"); err == nil {
		d.warn("shell", "install bash", "bash not found: commands run in %s, which models know less well", path)
	} else {
		d.fail("shell", "install bash", "neither bash nor /bin/sh found: the agent cannot run commands")
	}
	if path, err := exec.LookPath("git"); err == nil {
		d.ok("git", "%s", path)
	} else {
		d.warn("git", "install git if the agent works on code", "git not found")
	}
	if abi, err := landlock(); err == nil {
		d.ok("kernel", "Landlock is available, version %d", abi)
	} else {
		d.warn("kernel", "boot a Linux kernel 5.13 or newer with landlock in its lsm= setting, or run the agent in a container or virtual machine",
			"Landlock is not available to confine commands: %v", err)
	}
}
