package slacktest

import (
	"cmp"
	"slices"
	"strings"
)

func (s *Server) apiTest(r *request) (reply, error) {
	if code := r.arguments["error"]; code != "" {
		return nil, fail(code)
	}
	return reply{"args": r.arguments}, nil
}

func (s *Server) authTest(*request) (reply, error) {
	return reply{
		"url": s.base + "/", "team": "Holdfast", "team_id": Team, "user": s.user(BotUser).Name, "user_id": BotUser,
		"bot_id": Bot, "is_enterprise_install": false,
	}, nil
}

func (s *Server) botsInfo(r *request) (reply, error) {
	if r.arguments["bot"] != Bot {
		return nil, fail("bot_not_found")
	}
	return reply{"bot": reply{"id": Bot, "app_id": App, "user_id": BotUser, "name": "holdfast", "deleted": false, "updated": 1712345678, "icons": reply{}}}, nil
}

func (s *Server) usersInfo(r *request) (reply, error) {
	u := s.user(r.arguments["user"])
	if u == nil {
		return nil, fail("user_not_found")
	}
	return reply{"user": u.wire()}, nil
}

func (s *Server) usergroupsUsersList(r *request) (reply, error) {
	members, known := s.groups[r.arguments["usergroup"]]
	if !known {
		return nil, fail("no_such_subteam")
	}
	return reply{"users": slices.Concat([]string{}, members)}, nil
}

func (s *Server) usersList(r *request) (reply, error) {
	page, next, err := paged(s.users, r, 1000)
	if err != nil {
		return nil, err
	}
	members := make([]reply, len(page))
	for i, u := range page {
		members[i] = u.wire()
	}
	return reply{"members": members, "cache_ts": 1712345678, "response_metadata": reply{"next_cursor": next}}, nil
}

func (u *User) wire() reply {
	team := cmp.Or(u.Team, Team)
	zone := u.TZ[strings.LastIndex(u.TZ, "/")+1:]
	out := reply{
		"id": u.ID, "team_id": team, "name": u.Name, "real_name": u.RealName, "deleted": u.Deleted,
		"tz": u.TZ, "tz_label": zone, "tz_offset": u.TZOffset, "is_bot": u.Bot, "is_app_user": false, "is_admin": false,
		"is_restricted": u.Guest || u.Visitor, "is_ultra_restricted": u.Visitor, "is_stranger": false,
		"updated": 1712345678,
		"profile": reply{
			"real_name": u.RealName, "real_name_normalized": u.RealName, "display_name": u.Display,
			"display_name_normalized": u.Display, "team": team,
		},
	}
	if u.ID == BotUser {
		out["profile"].(reply)["bot_id"], out["profile"].(reply)["api_app_id"] = Bot, App
	}
	return out
}
