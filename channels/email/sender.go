package email

import (
	"maps"
	"strings"
)

// automatic returns why a mail was not written by a person; empty: it may have been. Such
// mail is never answered, so that two programs do not answer each other for ever.
func (m *mail) automatic() string {
	get := func(field string) string { return strings.ToLower(strings.TrimSpace(m.header.Get(field))) }
	local, _, _ := strings.Cut(m.from, "@")
	kind, _, _ := m.header.ContentType() // text if it is malformed
	suppress := get("X-Auto-Response-Suppress")
	switch submitted, _, _ := strings.Cut(get("Auto-Submitted"), ";"); {
	case submitted != "" && strings.TrimSpace(submitted) != "no":
		return "it says that it was sent automatically"
	case bulk[get("Precedence")]:
		return "it is bulk mail"
	case m.header.Has("List-Id"), m.header.Has("List-Post"), m.header.Has("List-Unsubscribe"):
		return "it is from a list"
	case m.header.Has("X-Autoreply"), m.header.Has("X-Autorespond"), m.header.Has("X-Loop"):
		return "it is an automatic reply"
	case strings.Contains(suppress, "all"), strings.Contains(suppress, "autoreply"):
		return "it asks for no automatic reply"
	case m.header.Has("Return-Path") && strings.Trim(get("Return-Path"), "<> ") == "":
		return "it has no return path"
	case strings.EqualFold(kind, "multipart/report"):
		return "it is a report"
	case machines[strings.NewReplacer("-", "", "_", "", ".", "").Replace(local)]:
		return "its sender is a program"
	}
	return ""
}

var (
	bulk     = map[string]bool{"bulk": true, "list": true, "junk": true, "auto_reply": true}
	machines = map[string]bool{
		"mailerdaemon": true, "postmaster": true, "noreply": true, "donotreply": true, "bounce": true, "bounces": true,
	}
)

// authentic reports whether a mail is from the domain in its From field, as the mail server
// found, and if not, why. It trusts only what the server with that name found, and of each
// method what it found last: a forged field can only be below the server's own.
func (m *mail) authentic(server string) (why string, ok bool) {
	_, domain, _ := strings.Cut(m.from, "@")
	var aligned, found bool
	seen := map[string]bool{}
	for fields := m.header.Fields(); fields.Next(); {
		if found && strings.EqualFold(fields.Key(), "Received") {
			break // what follows was there when the server got the mail
		}
		if !strings.EqualFold(fields.Key(), "Authentication-Results") {
			continue
		}
		id, results := parseResults(fields.Value())
		if !strings.EqualFold(id, server) {
			continue
		}
		found = true
		before := maps.Clone(seen)
		for _, r := range results {
			seen[r.method] = true
			switch {
			case before[r.method]:
			case r.method == "dmarc" && (r.result != "pass" || !r.isFor("header.from", domain)):
				return "DMARC: " + r.result, false
			case r.method == "dmarc":
				aligned = true
			case r.result == "pass" && (r.method == "spf" && r.alignedWith(domain, "smtp.mailfrom") ||
				r.method == "dkim" && r.alignedWith(domain, "header.d", "header.i")):
				aligned = true
			}
		}
	}
	switch {
	case aligned:
		return "", true
	case found:
		return "neither SPF nor DKIM passed for " + domain, false
	}
	return "the server " + server + " did not check it", false
}

// result is one of the results in a field Authentication-Results (RFC 8601).
type result struct {
	method, result string
	properties     map[string]string
}

// isFor reports whether a result is for a domain, or does not say.
func (r result) isFor(property, domain string) bool {
	value := r.properties[property]
	return value == "" || strings.EqualFold(value, domain)
}

// alignedWith reports whether one of the properties is the domain, one above it or one
// below it, as DMARC's relaxed alignment has it.
func (r result) alignedWith(domain string, properties ...string) bool {
	for _, property := range properties {
		value := r.properties[property]
		value = strings.ToLower(value[strings.LastIndexByte(value, '@')+1:])
		if value == domain || strings.Contains(value, ".") && strings.HasSuffix(domain, "."+value) || strings.HasSuffix(value, "."+domain) {
			return true
		}
	}
	return false
}

// parseResults parses the field's value: the ID of the server, and what it found.
func parseResults(value string) (server string, results []result) {
	parts := strings.Split(withoutComments(value), ";")
	if id := strings.Fields(parts[0]); len(id) > 0 {
		server = id[0]
	}
	for _, part := range parts[1:] {
		r := result{properties: map[string]string{}}
		for field := range strings.FieldsSeq(part) {
			name, value, found := strings.Cut(field, "=")
			name, value = strings.ToLower(name), strings.ToLower(strings.Trim(value, `"`))
			switch {
			case !found:
			case r.method == "":
				name, _, _ = strings.Cut(name, "/")
				r.method, r.result = name, value
			case r.properties[name] == "":
				r.properties[name] = value
			}
		}
		if r.method != "" {
			results = append(results, r)
		}
	}
	return server, results
}

// withoutComments drops comments, which may be within each other, and the separators
// within quoted strings.
func withoutComments(value string) string {
	var b strings.Builder
	depth, quoted := 0, false
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case c == '\\':
			i++
		case c == '"' && depth == 0:
			quoted = !quoted
		case quoted:
			if c != ';' && c != ' ' && c != '=' {
				b.WriteByte(c)
			}
		case c == '(':
			depth++
		case c == ')':
			depth = max(0, depth-1)
			b.WriteByte(' ')
		case depth == 0:
			b.WriteByte(c)
		}
	}
	return b.String()
}
