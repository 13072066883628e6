// Package failpoint stops the process at a named point, so that tests can see
// what a crash there does. Without the build tag failpoint it does nothing.
package failpoint

// Variable is the environment variable that names the point to die at: "name", or
// "name:n" for the nth time it is reached. "@path" is a file that names the point, or
// another one later: counting then starts anew.
const Variable = "HOLDFAST_FAILPOINT"
