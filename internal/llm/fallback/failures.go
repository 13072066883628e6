package fallback

import (
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/internal/remote"
)

// failures says why no candidate answered, in the order of the candidates.
type failures []failure

type failure struct {
	name string
	err  *remote.Error
	wait time.Duration // until a retry is useful; 0 if the service did not say
}

// err returns the first failure that is worth a retry, else the first, with the
// shortest wait of those worth one. It names the others.
func (f failures) err() error {
	chosen, wait := -1, time.Duration(0)
	for i, one := range f {
		if one.err.Permanent() {
			continue
		}
		if chosen < 0 {
			chosen, wait = i, one.wait
		}
		wait = min(wait, one.wait)
	}
	chosen = max(0, chosen)
	var others []string
	for i, one := range f {
		if i != chosen {
			others = append(others, fmt.Sprintf("%s (%v)", one.name, one.err))
		}
	}
	out := *f[chosen].err
	out.RetryAfter = wait
	if len(others) > 0 {
		out.Err = fmt.Errorf("%w; also failed: %s", out.Err, strings.Join(others, ", "))
	}
	return &out
}
