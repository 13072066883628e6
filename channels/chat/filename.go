package chat

import (
	"fmt"
	"path"
	"strings"
	"unicode"
)

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
