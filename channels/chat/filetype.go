package chat

import (
	"fmt"
	"path"
	"strings"
	"unicode"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// readableTypes are the media types other than text that an agent can read.
var readableTypes = map[string]bool{
	"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true, "application/pdf": true,
	"application/json": true, "application/xml": true, "application/yaml": true, "application/x-yaml": true, "application/toml": true,
	"application/javascript": true, "application/x-javascript": true, "application/typescript": true, "application/sql": true,
	"application/x-sh": true, "application/x-ndjson": true, "application/x-httpd-php": true, "application/x-python": true,
	"application/csv": true, "application/rtf": true, "image/svg+xml": true,
}

// readableExtensions are those of text files that platforms report with another type: .ts
// is also a video.
var readableExtensions = map[string]bool{
	".bat": true, ".c": true, ".cc": true, ".cfg": true, ".clj": true, ".conf": true, ".cpp": true, ".cs": true, ".css": true, ".csv": true,
	".diff": true, ".env": true, ".erl": true, ".ex": true, ".exs": true, ".go": true, ".graphql": true, ".h": true, ".hpp": true, ".hs": true,
	".html": true, ".ini": true, ".java": true, ".jl": true, ".js": true, ".json": true, ".jsonl": true, ".jsx": true, ".kt": true, ".log": true,
	".lua": true, ".m": true, ".md": true, ".mod": true, ".patch": true, ".php": true, ".pl": true, ".properties": true, ".proto": true,
	".ps1": true, ".py": true, ".r": true, ".rb": true, ".rs": true, ".rst": true, ".scala": true, ".sh": true, ".sql": true, ".sum": true,
	".svg": true, ".swift": true, ".tex": true, ".tf": true, ".toml": true, ".ts": true, ".tsv": true, ".tsx": true, ".txt": true, ".vue": true,
	".xml": true, ".yaml": true, ".yml": true, ".zig": true,
}

// isReadable reports whether an agent can read a file's type.
func isReadable(f domain.File) bool {
	kind, _, _ := strings.Cut(strings.ToLower(f.MIME), ";")
	kind = strings.TrimSpace(kind)
	return strings.HasPrefix(kind, "text/") || readableTypes[kind] || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml") ||
		readableExtensions[strings.ToLower(path.Ext(f.Name))]
}

const nameLimit = 100 // characters of a file's name

// uniqueName makes a file name valid on any disk and unique among those taken, whatever
// its case, and adds it to them.
func uniqueName(name string, taken map[string]bool) string {
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	name = strings.Trim(strings.Map(nameRune, name), "._ ")
	extension := path.Ext(name)
	if extension == name || len(extension) > nameLimit/2 {
		extension = ""
	}
	stem := []rune(strings.TrimSuffix(name, extension))
	if len(stem) == 0 {
		stem = []rune("file")
	}
	stem = stem[:min(len(stem), nameLimit-len(extension))]
	unique := string(stem) + extension
	for i := 2; taken[strings.ToLower(unique)]; i++ {
		unique = fmt.Sprintf("%s-%d%s", string(stem), i, extension)
	}
	taken[strings.ToLower(unique)] = true
	return unique
}

func nameRune(r rune) rune {
	switch {
	case unicode.IsLetter(r), unicode.IsDigit(r), unicode.Is(unicode.Mn, r), strings.ContainsRune("._-+()", r):
		return r
	}
	return '_'
}

// inBytes formats a size.
func inBytes(n int64) string {
	size, unit := float64(n), "bytes"
	switch {
	case n >= 1<<20:
		size, unit = size/(1<<20), "MB"
	case n >= 1<<10:
		size, unit = size/(1<<10), "kB"
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", size), ".0") + " " + unit
}
