package supervisor

import (
	"os"
	"os/exec"
	"slices"
	"syscall"
)

// spawn starts a supervisor for the entry. The channel is closed when it exits.
func (s *Supervisor) spawn(e entry, env []string) (<-chan struct{}, error) {
	log, err := os.OpenFile(e.path(logFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(s.executable, append(slices.Clone(s.args), e.dir)...) //nolint:noctx // outlives this process
	cmd.Env = append([]string{}, env...)                                      // never nil, which would mean our environment
	cmd.Dir = "/"
	cmd.Stderr = log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		if err := cmd.Wait(); err != nil {
			s.logger.Warn("supervisor failed", "dir", e.dir, "err", err)
		}
	}()
	return exited, nil
}
