package doctor

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/memory"
	"github.com/holdfast-ai/holdfast/internal/node"
	"github.com/holdfast-ai/holdfast/internal/skill"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// checkMemory checks that conversations can be consolidated into memory, and whether
// the last consolidations failed.
func (d *doctor) checkMemory(ctx context.Context) {
	found, err := memory.Check(d.cfg.Workspace)
	if err != nil {
		return // missing, or reported by checkFolders
	}
	unusable := map[string]bool{}
	for _, c := range found {
		for _, problem := range c.Problems {
			what, fix := parted(problem.Error())
			d.fail("memory", fix, "%s; conversations are no longer consolidated into the memory of %s", what, c.Scope)
			unusable[c.Scope] = true
		}
	}
	if len(unusable) == 0 {
		d.ok("memory", "MEMORY.md has %d bytes; %d people and chats have their own", found[0].Size, len(found)-1)
	}
	d.checkSharing(memory.CheckFileSystem(d.cfg.Workspace))
	if err := d.checkConsolidations(ctx, unusable); err != nil {
		d.warn("memory", "see the checks of the engine and the store", "cannot check for failed consolidations: %v", err)
	}
}

// checkSharing says what several writers of memory files may lose, given what the file system
// lacks.
func (d *doctor) checkSharing(err error) {
	if errors.Is(err, memory.ErrNoLock) || errors.Is(err, memory.ErrLocalLock) {
		d.warn("memory", "run a single worker, or mount the workspace with locks that all machines see (NFS without nolock and local_lock)",
			"workers on several machines could lose each other's changes of the memory: %v", err)
	}
	if errors.Is(err, memory.ErrNoExchange) {
		d.warn("memory", "edit memory files only while Holdfast is stopped, or keep the workspace on a file system that can exchange files",
			"what an editor saves in a memory file while Holdfast changes it could be lost: %v", err)
	}
}

// parted splits a problem from its fix, which comes last.
func parted(problem string) (what, fix string) {
	at := strings.LastIndex(problem, "; ")
	if at < 0 {
		return problem, "make it readable and writable"
	}
	return problem[:at], problem[at+len("; "):]
}

// checkConsolidations warns about memories with waiting conversations whose last
// consolidation failed, except the known ones.
func (d *doctor) checkConsolidations(ctx context.Context, known map[string]bool) error {
	address := cmp.Or(d.cfg.Temporal.Address, d.running.Temporal)
	if address == "" || !d.stored {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	stored, err := store.Open(ctx, store.Options{DSN: d.cfg.StoreDSN()})
	if err != nil {
		return err
	}
	defer stored.Close()
	scopes, err := stored.DueScopes(ctx, d.cfg.Agent.MemoryWindow)
	if err != nil {
		return err
	}
	connected, err := node.Connect(ctx, d.cfg, address, discard())
	if err != nil {
		return err
	}
	defer connected.Close()
	for _, scope := range scopes {
		if known[scope] {
			continue
		}
		if at, why := connected.FailedConsolidation(ctx, scope); why != "" {
			d.warn("memory", "fix the cause; it is retried within 15 minutes or, after bad answers of the model, after 6 hours or a restart",
				"the last consolidation into the memory of %[2]s failed at %[1]s: %[3]s", localTime(at), scope, why)
		}
	}
	return nil
}

// checkSkills finds broken skills in the workspace.
func (d *doctor) checkSkills() {
	skills, err := skill.Inspect(d.cfg.Workspace, node.SkillEnvironment(d.cfg.Workspace))
	if err != nil {
		return // reported by checkFolders
	}
	own, wrong := 0, 0
	for _, s := range skills {
		if s.Builtin {
			continue
		}
		own++
		if s.Problem == "" {
			continue
		}
		wrong++
		what, fix, found := strings.Cut(s.Problem, "; ")
		if !found {
			fix = "make it a readable file inside the workspace"
		}
		d.warn("skills", fix, "%s (%s): %s", s.Name, s.Location, what)
	}
	if wrong == 0 {
		d.ok("skills", "%d in the workspace, %d built in", own, len(skills)-own)
	}
}
