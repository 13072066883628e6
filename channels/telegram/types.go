package telegram

import "encoding/json"

// update is something that Telegram delivers.
type update struct {
	ID       int64     `json:"update_id"`
	Message  *message  `json:"message"`
	Edited   *message  `json:"edited_message"`
	Callback *callback `json:"callback_query"`
}

// updateKinds are the kinds of updates that we ask for.
var updateKinds = []string{"message", "edited_message", "callback_query"}

// message has the fields of a message that we read.
type message struct {
	ID              int64     `json:"message_id"`
	Thread          int64     `json:"message_thread_id"`
	IsTopic         bool      `json:"is_topic_message"` // else Thread only groups replies
	From            *user     `json:"from"`
	Chat            group     `json:"chat"`
	Date            int64     `json:"date"`
	EditDate        int64     `json:"edit_date"`
	Album           string    `json:"media_group_id"`
	Text            string    `json:"text"`
	Entities        []entity  `json:"entities"`
	Caption         string    `json:"caption"`
	CaptionEntities []entity  `json:"caption_entities"`
	ReplyTo         *message  `json:"reply_to_message"`
	External        *external `json:"external_reply"`
	Quote           *struct {
		Text string `json:"text"`
	} `json:"quote"`
	Origin      *origin `json:"forward_origin"`
	AutoForward bool    `json:"is_automatic_forward"` // a channel's post in the group beside it
	MigrateTo   int64   `json:"migrate_to_chat_id"`
	media
}

// group is a chat.
type group struct {
	ID    int64  `json:"id"`
	Type  string `json:"type"`
	Title string `json:"title"`
}

// entity marks a part of a text. Offset and Length count UTF-16 units.
type entity struct {
	Type     string `json:"type"`
	Offset   int    `json:"offset"`
	Length   int    `json:"length"`
	URL      string `json:"url"`
	User     *user  `json:"user"`
	Language string `json:"language"`
}

// origin says who wrote a message that was forwarded.
type origin struct {
	Sender     *user  `json:"sender_user"`
	SenderName string `json:"sender_user_name"`
	SenderChat *group `json:"sender_chat"`
	Chat       *group `json:"chat"`
}

// external is the message of another chat that a message answers.
type external struct {
	Origin *origin `json:"origin"`
	media
}

// media is what a message has besides text.
type media struct {
	Photo     []file `json:"photo"` // the same one in several sizes, the largest last
	Voice     *file  `json:"voice"`
	Audio     *file  `json:"audio"`
	Document  *file  `json:"document"`
	Animation *file  `json:"animation"`
	Video     *file  `json:"video"`
	VideoNote *file  `json:"video_note"`
	Sticker   *struct {
		Emoji string `json:"emoji"`
		Set   string `json:"set_name"`
	} `json:"sticker"`
	Location *location `json:"location"`
	Venue    *struct {
		Title    string   `json:"title"`
		Address  string   `json:"address"`
		Location location `json:"location"`
	} `json:"venue"`
	Contact *struct {
		Phone     string `json:"phone_number"`
		FirstName string `json:"first_name"`
		LastName  string `json:"last_name"`
	} `json:"contact"`
	Poll *struct {
		Question string `json:"question"`
		Options  []struct {
			Text string `json:"text"`
		} `json:"options"`
	} `json:"poll"`
	Dice *struct {
		Emoji string `json:"emoji"`
		Value int    `json:"value"`
	} `json:"dice"`
}

// file is a file that Telegram stores.
type file struct {
	ID   string `json:"file_id"`
	Name string `json:"file_name"`
	MIME string `json:"mime_type"`
	Size int64  `json:"file_size"`
}

type location struct {
	Latitude  float64         `json:"latitude"`
	Longitude float64         `json:"longitude"`
	Live      json.RawMessage `json:"live_period"` // set if it moves
}

// callback is a click on a button of ours.
type callback struct {
	ID      string   `json:"id"`
	From    *user    `json:"from"`
	Message *message `json:"message"`
	Data    string   `json:"data"`
}
