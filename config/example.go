package config

import (
	_ "embed"
	"slices"
)

//go:embed example.yaml
var example []byte

// Example returns a config file with all settings, commented out, at their defaults.
func Example() []byte { return slices.Clone(example) }
