package node

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"time"
)

// identityPrefix is common to all processes that ever owned the engine of a data
// directory, and only to them.
func identityPrefix(data string) string {
	sum := sha256.Sum256([]byte(data))
	return "holdfast@" + hex.EncodeToString(sum[:4]) + "/"
}

// NewIdentity names this process in workflow histories: by data directory, process ID
// and, since process IDs are reused, time.
func NewIdentity(data string) string {
	return fmt.Sprintf("%s%d/%d", identityPrefix(data), os.Getpid(), time.Now().UnixMilli())
}
