package protocol

import "fmt"

// Dollars says what model calls cost, from millionths of a US dollar: $0.0123. Of
// so many calls the price is not known, and that is said, too: they were not free.
func Dollars(microdollars int64, unpriced int) string {
	switch {
	case unpriced > 0 && microdollars == 0:
		return "unknown"
	case unpriced > 0:
		return "at least " + Dollars(microdollars, 0)
	case microdollars == 0:
		return "$0"
	}
	digits := 4
	switch {
	case microdollars < 100:
		digits = 6
	case microdollars >= 10_000_000:
		digits = 2
	}
	return fmt.Sprintf("$%.*f", digits, float64(microdollars)/1e6)
}
