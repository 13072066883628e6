package node

import (
	"log/slog"

	"github.com/holdfast-ai/holdfast/channels/whatsapp"
	"github.com/holdfast-ai/holdfast/config"
)

// whatsAppOptions returns the options of the WhatsApp channel.
func whatsAppOptions(c config.WhatsApp, log *slog.Logger) whatsapp.Options {
	common := config.Platform{AllowUsers: c.AllowUsers, MaxFileMB: c.MaxFileMB}
	return whatsapp.Options{
		Options: chatOptions(common, nil, log), PhoneNumberID: c.PhoneNumberID, AccessToken: c.AccessToken.Reveal(),
		AppSecret: c.AppSecret.Reveal(), VerifyToken: c.VerifyToken.Reveal(), Listen: c.Listen, Path: c.Path, APIURL: c.APIURL,
		ReportWait: c.ReportWait,
	}
}
