package node

import "golang.org/x/sys/unix"

// hideEnvironment prevents other processes of this user, such as the agent's commands,
// from reading the environment and memory of this process, which hold API keys. Root
// can still read them.
func hideEnvironment() error {
	return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
}
