// Package account gives a user without an entry in /etc/passwd a name and a home, as in
// `docker run --user 12345`. Import it for this side effect, in main only.
package account

import (
	"os"
	"strconv"
)

// The engine looks up its user. [os/user] takes name and home from the environment if
// there is no entry and it was built without cgo, but only at its first use, which is in
// the initialization of a dependency. Go initializes packages in the order of their import
// paths, as far as dependencies allow, and this package has none.
func init() {
	for name, value := range map[string]string{"USER": strconv.Itoa(os.Getuid()), "HOME": "/"} {
		if os.Getenv(name) == "" {
			_ = os.Setenv(name, value) // fails only for invalid names
		}
	}
}
