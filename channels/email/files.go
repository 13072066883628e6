package email

import (
	"bytes"
	"context"
	"io"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// Describe implements [chat.Files].
func (*platform) Describe(_ context.Context, f domain.File) (domain.File, error) { return f, nil }

// Fetch implements [chat.Files]: it reads the mail again.
func (p *platform) Fetch(ctx context.Context, f domain.File) (content io.ReadCloser, err error) {
	err = p.with(ctx, p.o.Mailbox, func(m *mailbox) error {
		uids, err := m.search(withID("<" + f.URL + ">"))
		if err != nil {
			return err
		}
		all, err := m.fetchAll(uids, 5)
		if err != nil {
			return err
		}
		for _, s := range all {
			if found := s.file(f); s.id == f.URL && found != nil {
				content = io.NopCloser(bytes.NewReader(found))
			}
		}
		return nil
	})
	if err == nil && content == nil {
		err = chat.Unreadable("is no longer in the mailbox")
	}
	return content, err
}

// file returns the content of a file; nil if the mail does not have it.
func (m *mail) file(f domain.File) []byte {
	if f.ID == quotedFile && m.quoted != "" {
		return []byte(m.quoted)
	}
	for _, own := range m.files {
		if own.ID == f.ID && own.Name == f.Name && own.Size == f.Size {
			return own.content
		}
	}
	return nil
}
