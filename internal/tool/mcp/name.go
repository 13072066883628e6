package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

const (
	// nameLimit bounds the name of a tool, as providers do.
	nameLimit = 64
	hashLen   = 8
)

// notInName matches what providers do not take in the name of a tool.
var notInName = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// prefix is what the names of a server's tools begin with.
func prefix(server string) string {
	p := "mcp_" + notInName.ReplaceAllString(server, "_") + "_"
	return p[:min(len(p), nameLimit-hashLen-1)]
}

// toolName is what the model calls a server's tool. It depends on nothing but
// the configuration, so that it stays the same whichever servers are up. A name
// that had to be changed, or that another of the servers could have given to a
// tool, ends in a hash of the original.
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
