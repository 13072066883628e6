package email

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/emersion/go-imap/v2"
)

// cursor says how far a mailbox was read.
type cursor struct {
	validity uint32     // UIDVALIDITY: UIDs are those of this numbering
	last     imap.UID   // all up to this were read
	at       time.Time  // when
	later    []imap.UID // of those, what is to be read later, in ascending order
}

// maxLater bounds the mails that wait because their sender wrote too many.
const maxLater = 1000

// String formats the cursor: VALIDITY:LAST:TIME:LATER,…
func (c cursor) String() string {
	var later []string
	for _, uid := range c.later {
		later = append(later, strconv.FormatUint(uint64(uid), 10))
	}
	return fmt.Sprintf("%d:%d:%d:%s", c.validity, c.last, c.at.Unix(), strings.Join(later, ","))
}

// parseCursor parses a cursor. It reports false if there is none.
func parseCursor(text string) (c cursor, ok bool) {
	var at int64
	var later string
	n, _ := fmt.Sscanf(text, "%d:%d:%d:%s", &c.validity, &c.last, &at, &later) // the last field may be empty
	if n < 3 {
		return cursor{}, false
	}
	c.at = time.Unix(at, 0)
	for uid := range strings.SplitSeq(later, ",") {
		if n, err := strconv.ParseUint(uid, 10, 32); err == nil {
			c.later = append(c.later, imap.UID(n))
		}
	}
	return c, true
}

// with returns the cursor after a mail was read, or put off.
func (c cursor) with(uid imap.UID, putOff bool) cursor {
	c.last = max(c.last, uid)
	at, waits := slices.BinarySearch(c.later, uid)
	switch {
	case putOff && !waits && len(c.later) < maxLater:
		c.later = slices.Insert(slices.Clone(c.later), at, uid)
	case !putOff && waits:
		c.later = slices.Delete(slices.Clone(c.later), at, at+1)
	}
	return c
}
