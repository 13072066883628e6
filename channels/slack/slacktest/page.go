package slacktest

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
)

// paged returns the requested page of a list and the next cursor.
func paged[T any](all []T, r *request, otherwise int) ([]T, string, error) {
	from := 0
	if cursor := r.arguments["cursor"]; cursor != "" {
		value, err := decode(cursor)
		if err != nil {
			return nil, "", err
		}
		if from, err = strconv.Atoi(value); err != nil || from > len(all) {
			return nil, "", fail("invalid_cursor")
		}
	}
	to := from + r.number("limit", otherwise)
	if to >= len(all) {
		return all[from:], "", nil
	}
	return all[from:to], encode(strconv.Itoa(to)), nil
}

const cursorPrefix = "next:"

func encode(value string) string {
	return base64.StdEncoding.EncodeToString([]byte(cursorPrefix + value))
}

func decode(cursor string) (string, error) {
	raw, err := base64.StdEncoding.DecodeString(cursor)
	value, found := strings.CutPrefix(string(raw), cursorPrefix)
	if err != nil || !found {
		return "", fail("invalid_cursor")
	}
	return value, nil
}

// window keeps the messages within oldest and latest.
func window(messages []*Message, r *request) []*Message {
	oldest, latest, inclusive := r.arguments["oldest"], r.arguments["latest"], r.yes("inclusive")
	return slices.DeleteFunc(messages, func(m *Message) bool {
		if (m.TS == oldest || m.TS == latest) && !inclusive {
			return true
		}
		return before(m.TS, oldest) || latest != "" && before(latest, m.TS)
	})
}

// before compares timestamps, which may have fewer digits than Slack's.
func before(a, b string) bool { return micros(a) < micros(b) }

func micros(ts string) int64 {
	whole, part, _ := strings.Cut(ts, ".")
	n, _ := strconv.ParseInt(whole+(part + "000000")[:6], 10, 64)
	return n
}
