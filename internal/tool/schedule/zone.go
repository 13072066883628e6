package schedule

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// machineZone returns the IANA name of this machine's time zone; UTC if unknown. Package
// time has the zone without its name.
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
