// Package testrun sets how the tests of a package run.
package testrun

import (
	"flag"
	"strconv"
)

// Parallel lets n tests run at once unless -parallel is given. TestMain calls it in
// packages whose tests wait more than they compute: the default is one per processor.
func Parallel(n int) {
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set(strconv.Itoa(n))
	}
}
