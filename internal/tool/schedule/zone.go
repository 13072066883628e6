package schedule

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// machineZone is the IANA name of this machine's time zone; UTC if it has none.
// The time package knows the zone, but not its name.
func machineZone() string {
	name := strings.TrimPrefix(os.Getenv("TZ"), ":")
	if name == "" {
		target, _ := filepath.EvalSymlinks("/etc/localtime")
		_, name, _ = strings.Cut(target, "zoneinfo/")
	}
	if _, err := time.LoadLocation(name); err != nil || name == "" || name == "Local" {
		return "UTC"
	}
	return name
}
