package slacktest

import "slices"

func need(scopes ...string) func(*Server, *request) []string {
	return func(*Server, *request) []string { return scopes }
}

// needOne requires any one of the scopes.
func needOne(scopes ...string) func(*Server, *request) []string {
	return func(s *Server, _ *request) []string {
		for _, scope := range scopes {
			if slices.Contains(s.scopes, scope) {
				return nil
			}
		}
		return scopes[len(scopes)-1:]
	}
}

var family = map[Kind]string{Public: "channels:", Private: "groups:", IM: "im:", MPIM: "mpim:"}

// forKind requires the scope for the kind of the conversation.
func forKind(right string) func(*Server, *request) []string {
	return func(s *Server, r *request) []string {
		if c := s.find(r.arguments["channel"]); c != nil {
			return []string{family[c.Kind] + right}
		}
		return nil
	}
}

var typeNames = map[string]Kind{"public_channel": Public, "private_channel": Private, "im": IM, "mpim": MPIM}

// types returns the requested kinds of conversations.
func (a arguments) types() []Kind {
	var kinds []Kind
	for _, name := range a.list("types") {
		kinds = append(kinds, typeNames[name])
	}
	if kinds == nil {
		return []Kind{Public}
	}
	return kinds
}

// forTypes requires the scope for each requested kind.
func forTypes(_ *Server, r *request) []string {
	var scopes []string
	for _, kind := range r.types() {
		scopes = append(scopes, family[kind]+"read")
	}
	return scopes
}
