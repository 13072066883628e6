package doctor

import (
	"os/exec"
	"time"

	"github.com/holdfast-ai/holdfast/internal/build"
)

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

// checkClock finds a clock that is certainly wrong.
func (d *doctor) checkClock() {
	now := time.Now()
	if built := build.Time(); now.Before(built) {
		d.fail("clock", "set the clock", "it says %s, before this program was built", localTime(now))
		return
	}
	d.ok("clock", "%s", now.Format(time.RFC3339))
}
