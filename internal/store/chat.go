package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// OpenChat returns the chat that a request belongs to: the one that is answering it, if the
// request is repeated; or that of an accepted message with the request's ID; or one in which
// exactly this was said before, which then belongs to this request alone. Otherwise it is a
// new chat, and what was said before becomes its earlier turns. A chat that the client names
// only gets those turns if it is new.
func (s *Store) OpenChat(ctx context.Context, in domain.ChatRequest) (chat domain.Chat, err error) {
	err = s.write(ctx, "find the chat of a request", syncCommit, func(tx *runner) error {
		chat, err = tx.openChat(ctx, in)
		return err
	})
	return chat, err
}

func (r *runner) openChat(ctx context.Context, in domain.ChatRequest) (domain.Chat, error) {
	fresh := domain.Chat{Name: in.New, Message: in.Message}
	if in.Named {
		return fresh, r.seed(ctx, in)
	}
	for _, look := range []func() (domain.Chat, bool, error){
		func() (domain.Chat, bool, error) {
			return one(ctx, r, scanChat, `SELECT name, message FROM chats WHERE request = $1 AND request <> ''`, in.Request)
		},
		func() (domain.Chat, bool, error) {
			return one(ctx, r, scanChat, `SELECT chat, platform_id FROM inbox WHERE id = $1`, domain.MessageID(in.Channel, "", in.Message))
		},
		func() (domain.Chat, bool, error) {
			return one(ctx, r, scanChat, `UPDATE chats SET said = '', request = $2, message = $3 WHERE said = $1 AND said <> ''
				AND session = (SELECT session FROM chats WHERE said = $1 AND said <> '' LIMIT 1) RETURNING name, message`,
				in.Before, in.Request, in.Message)
		},
	} {
		if chat, found, err := look(); found || err != nil {
			return chat, err
		}
	}
	session := domain.SessionKey(in.Channel, in.New, "")
	added, err := r.exec(ctx, `INSERT INTO chats (session, name, said, request, message) VALUES ($1, $2, '', $3, $4)
		ON CONFLICT DO NOTHING`, session, in.New, in.Request, in.Message)
	if err != nil {
		return domain.Chat{}, err
	}
	if added == 0 { // the same request came through another process
		return required(ctx, r, scanChat, `SELECT name, message FROM chats WHERE request = $1 AND request <> ''`, in.Request)
	}
	return fresh, r.seed(ctx, in)
}

// seed stores what was said before in a new session.
func (r *runner) seed(ctx context.Context, in domain.ChatRequest) error {
	turns := seedTurns(in)
	if len(turns) == 0 {
		return nil
	}
	route := domain.Route{Channel: in.Channel, Chat: in.New}
	session := domain.SessionKey(in.Channel, in.New, "")
	there, _, err := one(ctx, r, scanCount, `SELECT (SELECT COUNT(*) FROM turns WHERE session = $1) + (SELECT COUNT(*) FROM inbox WHERE session = $1)`, session)
	if err != nil || there > 0 {
		return err
	}
	epoch, err := r.touchSession(ctx, session, in.Channel)
	if err != nil {
		return err
	}
	return r.importTurns(ctx, Import{Session: session, Route: route}, turns, epoch)
}

// seedTurns divides what was said before into turns, each of which ends with an answer.
func seedTurns(in domain.ChatRequest) (turns []ImportTurn) {
	answered := true
	for _, m := range in.Earlier {
		if answered && m.Role == domain.RoleUser {
			id := domain.MessageID(in.Channel, "seed", fmt.Sprint(in.New, " ", len(turns)))
			turns = append(turns, ImportTurn{ID: id})
		}
		if len(turns) == 0 { // the client's greeting; models want a user's message first
			continue
		}
		turn := &turns[len(turns)-1]
		answered = m.Role == domain.RoleAssistant
		m.Step, m.CreatedAt = 1, now()
		for _, before := range turn.Messages {
			switch {
			case before.Role != m.Role:
			case answered:
				m.Step++ // another completion
			default:
				m.Index++ // it joined
			}
		}
		turn.Messages = append(turn.Messages, m)
	}
	return turns
}

// AnsweredChat stores what has been said once a request is answered. Whoever says this next
// continues the chat.
func (s *Store) AnsweredChat(ctx context.Context, session, request, said string) error {
	_, err := s.exec(ctx, "store what was said in "+session, syncCommit, `UPDATE chats SET said = $3 WHERE session = $1 AND request = $2`, session, request, said)
	return err
}

// ReceivedChat forgets a request: its client has the answer, so the same request is a new one.
func (s *Store) ReceivedChat(ctx context.Context, session, request string) error {
	_, err := s.exec(ctx, "close the request of "+session, asyncCommit, `UPDATE chats SET request = '' WHERE session = $1 AND request = $2`, session, request)
	return err
}

func scanChat(rows *sql.Rows) (c domain.Chat, err error) { return c, rows.Scan(&c.Name, &c.Message) }
