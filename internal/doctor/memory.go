package doctor

import (
	"cmp"
	"context"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/memory"
	"github.com/holdfast-ai/holdfast/internal/node"
	"github.com/holdfast-ai/holdfast/internal/skill"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// checkMemory looks whether conversations can be taken into the memories, and
// whether they were.
func (d *doctor) checkMemory(ctx context.Context) {
	found, err := memory.Check(d.cfg.Workspace)
	if err != nil {
		return // it is not there yet, or that was said above
	}
	unusable := map[string]bool{}
	for _, c := range found {
		for _, problem := range c.Problems {
			what, do := parted(problem.Error())
			d.fail("memory", do, "%s; so nothing more is taken into the memory of %s", what, c.Scope)
			unusable[c.Scope] = true
		}
	}
	if len(unusable) == 0 {
		d.ok("memory", "MEMORY.md has %d bytes; %d people and chats have one of their own", found[0].Size, len(found)-1)
	}
	if err := d.checkConsolidations(ctx, unusable); err != nil {
		d.warn("memory", "see what the checks of the engine and the store say", "it is not known whether conversations were taken in: %v", err)
	}
}

// parted parts what is wrong from what to do about it, which comes last.
func parted(problem string) (what, do string) {
	at := strings.LastIndex(problem, "; ")
	if at < 0 {
		return problem, "see that it can be read and written"
	}
	return problem[:at], problem[at+len("; "):]
}

// checkConsolidations looks for memories with something to take in whose last
// consolidation failed, other than those of which it is known.
func (d *doctor) checkConsolidations(ctx context.Context, known map[string]bool) error {
	address := cmp.Or(d.cfg.Temporal.Address, d.running.Temporal)
	if address == "" || !d.stored {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	stored, err := store.Open(ctx, store.Options{DSN: d.cfg.StoreDSN()})
	if err != nil {
		return err
	}
	defer stored.Close()
	scopes, err := stored.DueScopes(ctx)
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
			d.warn("memory", "put that right; it is tried again within 15 minutes or, if the model was of no use, after 6 hours or a restart",
				"the last attempt, at %s, to take conversations into the memory of %s failed: %s", localTime(at), scope, why)
		}
	}
	return nil
}

// checkSkills looks for skills of the workspace that are not what their authors
// meant them to be.
func (d *doctor) checkSkills() {
	skills, err := skill.Inspect(d.cfg.Workspace, node.SkillEnvironment(d.cfg.Workspace))
	if err != nil {
		return // as above
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
		what, do, found := strings.Cut(s.Problem, "; ")
		if !found {
			do = "make it a readable file in the workspace itself"
		}
		d.warn("skills", do, "%s (%s): %s", s.Name, s.Location, what)
	}
	if wrong == 0 {
		d.ok("skills", "%d in the workspace, %d built in", own, len(skills)-own)
	}
}
