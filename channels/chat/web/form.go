package web

import (
	"bytes"
	"cmp"
	"io"
	"maps"
	"mime/multipart"
	"net/textproto"
	"slices"
)

// Form is a body with a file.
type Form struct {
	Fields  map[string]string
	Field   string // of the file
	Name    string
	Type    string // media type; empty: application/octet-stream
	Content []byte
}

// encode returns the form and its media type.
func (f *Form) encode() (io.Reader, string, error) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(f.Fields)) {
		_ = w.WriteField(name, f.Fields[name]) // a buffer takes everything
	}
	part, err := w.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {multipart.FileContentDisposition(f.Field, f.Name)}, "Content-Type": {cmp.Or(f.Type, "application/octet-stream")},
	})
	if err != nil {
		return nil, "", err
	}
	_, _ = part.Write(f.Content)
	return &b, w.FormDataContentType(), w.Close()
}
