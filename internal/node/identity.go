package node

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"time"
)

// identityPrefix is shared by all the processes that ever owned a data folder's
// engine, and by no others.
func identityPrefix(data string) string {
	sum := sha256.Sum256([]byte(data))
	return "holdfast@" + hex.EncodeToString(sum[:4]) + "/"
}

// NewIdentity names this process in histories: whose data, which process, since
// when, since process IDs come again.
func NewIdentity(data string) string {
	return fmt.Sprintf("%s%d/%d", identityPrefix(data), os.Getpid(), time.Now().UnixMilli())
}
