package shell

import (
	"os"
	"strings"
)

// bootID returns an ID that changes with each boot.
func bootID() (string, error) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id)), err
}
