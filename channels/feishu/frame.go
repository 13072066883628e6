package feishu

import (
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// What the method of a [frame] is.
const (
	frameControl = 0 // ping and pong
	frameData    = 1 // events and their acknowledgements
)

// frame is a message of the long connection, which the platform encodes as protobuf.
type frame struct {
	SeqID, LogID    uint64
	Service, Method int32
	Headers         []header
	Encoding, Type  string // of the payload
	Payload         []byte
	NewLogID        string
}

type header struct{ Key, Value string }

// header returns the first header with that key.
func (f frame) header(key string) string {
	for _, h := range f.Headers {
		if h.Key == key {
			return h.Value
		}
	}
	return ""
}

// The numbers of the fields of a frame and of a header.
const (
	fieldSeqID, fieldLogID, fieldService, fieldMethod                = 1, 2, 3, 4
	fieldHeaders, fieldEncoding, fieldType, fieldPayload, fieldNewID = 5, 6, 7, 8, 9
	fieldKey, fieldValue                                             = 1, 2
)

// encode returns the frame's bytes. The first four fields are required, even if they are 0.
func (f frame) encode() []byte {
	var b []byte
	for _, v := range []struct {
		field protowire.Number
		value uint64
	}{{fieldSeqID, f.SeqID}, {fieldLogID, f.LogID}, {fieldService, uint64(int64(f.Service))}, {fieldMethod, uint64(int64(f.Method))}} { //nolint:gosec // protobuf encodes negative numbers so
		b = protowire.AppendVarint(protowire.AppendTag(b, v.field, protowire.VarintType), v.value)
	}
	for _, h := range f.Headers {
		pair := appendBytes(appendBytes(nil, fieldKey, []byte(h.Key)), fieldValue, []byte(h.Value))
		b = appendBytes(b, fieldHeaders, pair)
	}
	for _, v := range []struct {
		field protowire.Number
		value []byte
	}{{fieldEncoding, []byte(f.Encoding)}, {fieldType, []byte(f.Type)}, {fieldPayload, f.Payload}, {fieldNewID, []byte(f.NewLogID)}} {
		if len(v.value) > 0 {
			b = appendBytes(b, v.field, v.value)
		}
	}
	return b
}

func appendBytes(b []byte, field protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), value)
}

var errFrame = errors.New("malformed frame")

// decodeFrame decodes a frame. Fields that it does not know are skipped.
func decodeFrame(b []byte) (f frame, err error) {
	err = eachField(b, func(field protowire.Number, number uint64, value []byte) error {
		switch field { //nolint:exhaustive // others are skipped
		case fieldSeqID:
			f.SeqID = number
		case fieldLogID:
			f.LogID = number
		case fieldService:
			f.Service = int32(number) //nolint:gosec // the field is an int32
		case fieldMethod:
			f.Method = int32(number) //nolint:gosec // the field is an int32
		case fieldHeaders:
			h, err := decodeHeader(value)
			f.Headers = append(f.Headers, h)
			return err
		case fieldEncoding:
			f.Encoding = string(value)
		case fieldType:
			f.Type = string(value)
		case fieldPayload:
			f.Payload = value
		case fieldNewID:
			f.NewLogID = string(value)
		}
		return nil
	})
	return f, err
}

func decodeHeader(b []byte) (h header, err error) {
	err = eachField(b, func(field protowire.Number, _ uint64, value []byte) error {
		switch field { //nolint:exhaustive // others are skipped
		case fieldKey:
			h.Key = string(value)
		case fieldValue:
			h.Value = string(value)
		}
		return nil
	})
	return h, err
}

// eachField calls use with each field that is a number or bytes.
func eachField(b []byte, use func(field protowire.Number, number uint64, value []byte) error) error {
	for len(b) > 0 {
		field, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return fmt.Errorf("%w: %w", errFrame, protowire.ParseError(n))
		}
		b = b[n:]
		var number uint64
		var value []byte
		switch kind {
		case protowire.VarintType:
			number, n = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			value, n = protowire.ConsumeBytes(b)
		default:
			n = protowire.ConsumeFieldValue(field, kind, b)
			field = 0
		}
		if n < 0 {
			return fmt.Errorf("%w: %w", errFrame, protowire.ParseError(n))
		}
		if err := use(field, number, value); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

const (
	maxPieces   = 64      // of a message
	maxPartial  = 100     // messages of which some pieces are missing
	maxMessage  = 4 << 20 // bytes of a message
	partialLife = 30 * time.Second
)

// pieces puts messages together that come in several frames.
type pieces map[string]*partial

type partial struct {
	parts [][]byte
	left  int // pieces that are missing
	size  int
	began time.Time
}

// add adds a piece and returns the message once it is whole; else nil. A piece that comes
// twice replaces the first.
func (p pieces) add(message string, sum, seq int, payload []byte) ([]byte, error) {
	if sum <= 1 {
		return payload, nil
	}
	if sum > maxPieces || seq < 0 || seq >= sum || message == "" {
		return nil, fmt.Errorf("%w: piece %d of %d", errFrame, seq, sum)
	}
	m := p[message]
	if m == nil || len(m.parts) != sum {
		p.expire(time.Now())
		if len(p) >= maxPartial {
			return nil, fmt.Errorf("%w: too many unfinished messages", errFrame)
		}
		m = &partial{parts: make([][]byte, sum), left: sum, began: time.Now()}
		p[message] = m
	}
	if m.parts[seq] == nil {
		m.left--
	}
	m.size += len(payload) - len(m.parts[seq])
	m.parts[seq] = append(make([]byte, 0, len(payload)), payload...)
	if m.size > maxMessage {
		delete(p, message)
		return nil, fmt.Errorf("%w: longer than %d bytes", errFrame, maxMessage)
	}
	if m.left > 0 {
		return nil, nil
	}
	delete(p, message)
	whole := make([]byte, 0, m.size)
	for _, part := range m.parts {
		whole = append(whole, part...)
	}
	return whole, nil
}

func (p pieces) expire(now time.Time) {
	for message, m := range p {
		if now.Sub(m.began) > partialLife {
			delete(p, message)
		}
	}
}
