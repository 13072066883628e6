package wechat

import (
	"bytes"
	"encoding/json"
	"time"
)

// The kinds of a message's author and of what is in a message.
const (
	fromUser = 1
	fromBot  = 2

	itemText  = 1
	itemImage = 2
	itemVoice = 3
	itemFile  = 4
	itemVideo = 5

	stateFinished = 2
)

// id is a 64-bit number that the API writes as a number or a string.
type id string

// UnmarshalJSON implements [json.Unmarshaler].
func (i *id) UnmarshalJSON(text []byte) error {
	if bytes.Equal(text, []byte("null")) {
		return nil
	}
	var number json.Number // also takes a string with a number
	if err := json.Unmarshal(text, &number); err == nil {
		*i = id(number)
		return nil
	}
	return json.Unmarshal(text, (*string)(i))
}

// inbound is a message that was received.
type inbound struct {
	MessageID    id     `json:"message_id"`
	From         string `json:"from_user_id"`
	ClientID     string `json:"client_id"`
	CreatedMS    int64  `json:"create_time_ms"`
	GroupID      string `json:"group_id"`
	Type         int    `json:"message_type"`
	Items        []item `json:"item_list"`
	ContextToken string `json:"context_token"`
}

// sentAt is when a message was written, unless its clock is wrong.
func (m *inbound) sentAt() time.Time {
	at, now := time.UnixMilli(m.CreatedMS), time.Now()
	if m.CreatedMS <= 0 || at.After(now) {
		return now
	}
	return at
}

// item is a part of a message.
type item struct {
	Type      int        `json:"type"`
	MessageID id         `json:"msg_id,omitempty"`
	Quoted    *quoted    `json:"ref_msg,omitempty"`
	Text      *textItem  `json:"text_item,omitempty"`
	Image     *imageItem `json:"image_item,omitempty"`
	Voice     *voiceItem `json:"voice_item,omitempty"`
	File      *fileItem  `json:"file_item,omitempty"`
	Video     *videoItem `json:"video_item,omitempty"`
}

type quoted struct {
	Item  *item  `json:"message_item"`
	Title string `json:"title"`
}

type textItem struct {
	Text string `json:"text"`
}

// media is a file in WeChat's CDN.
type media struct {
	Param   string `json:"encrypt_query_param"`
	Key     string `json:"aes_key"` // base64 of the key, or of its hexadecimal digits
	Type    int    `json:"encrypt_type,omitempty"`
	FullURL string `json:"full_url,omitempty"`
}

type imageItem struct {
	Media   media  `json:"media"`
	Key     string `json:"aeskey,omitempty"` // hexadecimal; rather than that of Media
	MidSize int    `json:"mid_size,omitempty"`
}

type voiceItem struct {
	Text string `json:"text"` // WeChat's transcript
}

type fileItem struct {
	Media media  `json:"media"`
	Name  string `json:"file_name"`
	Size  string `json:"len"`
}

type videoItem struct {
	Media media `json:"media"`
	Size  int64 `json:"video_size"`
}
