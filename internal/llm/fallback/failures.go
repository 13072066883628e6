package fallback

import (
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/internal/remote"
)

// failures are why nobody answered, in the order of the candidates.
type failures []failure

type failure struct {
	name string
	err  *remote.Error
	wait time.Duration // until another attempt makes sense; 0 when nobody said
}

// err is the first that is worth another attempt, else the first, and names the
// others.
func (f failures) err() error {
	chosen := 0
	for i, one := range f {
		if !one.err.Permanent() {
			chosen = i
			break
		}
	}
	out := *f[chosen].err
	out.RetryAfter = f.shortestWait()
	if others := f.others(chosen); others != "" {
		out.Err = fmt.Errorf("%w; nor could %s", out.Err, others)
	}
	return &out
}

// shortestWait is how soon one of those may answer that are worth another
// attempt.
func (f failures) shortestWait() time.Duration {
	shortest := time.Duration(-1)
	for _, one := range f {
		if !one.err.Permanent() && (shortest < 0 || one.wait < shortest) {
			shortest = one.wait
		}
	}
	return max(0, shortest)
}

func (f failures) others(chosen int) string {
	var others []string
	for i, one := range f {
		if i != chosen {
			others = append(others, fmt.Sprintf("%s (%v)", one.name, one.err))
		}
	}
	return strings.Join(others, ", ")
}
