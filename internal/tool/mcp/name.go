package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

const (
	nameLimit = 64 // the limit of providers
	hashLen   = 8
)

// notInName matches characters that providers do not allow in tool names.
var notInName = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// prefix returns the common prefix of a server's tool names.
func prefix(server string) string {
	p := "mcp_" + notInName.ReplaceAllString(server, "_") + "_"
	return p[:min(len(p), nameLimit-hashLen-1)]
}

// toolName returns the model's name for a server's tool. It depends only on the
// configuration, not on which servers are connected. A name that had to be changed,
// or could belong to another server, ends with a hash of the original.
func toolName(server, name string, servers []string) string {
	full := "mcp_" + server + "_" + name
	clean := notInName.ReplaceAllString(full, "_")
	exact := clean == full && len(clean) <= nameLimit
	for _, other := range servers {
		if len(other) > len(server) && !notInName.MatchString(other) && strings.HasPrefix(clean, prefix(other)) {
			exact = false
		}
	}
	if exact {
		return clean
	}
	sum := sha256.Sum256([]byte(server + "\x00" + name))
	return clean[:min(len(clean), nameLimit-hashLen-1)] + "_" + hex.EncodeToString(sum[:])[:hashLen]
}
