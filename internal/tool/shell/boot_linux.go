package shell

import (
	"os"
	"strings"
)

// bootID names the time since the kernel started.
func bootID() (string, error) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id)), err
}
