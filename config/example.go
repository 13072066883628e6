package config

import (
	_ "embed"
	"slices"
)

//go:embed example.yaml
var example []byte

// Example returns a config file that explains every setting and sets none: each
// is there with its default, commented out.
func Example() []byte { return slices.Clone(example) }
