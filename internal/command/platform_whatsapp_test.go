package command

import (
	"slices"
	"testing"
	"time"

	"github.com/holdfast-ai/holdfast/channels/whatsapp/whatsapptest"
	"github.com/holdfast-ai/holdfast/internal/platformtest"
)

// liveWhatsApp is WhatsApp over its webhook, which delivers again until a process is there.
func liveWhatsApp(t *testing.T) livePlatform {
	server := whatsapptest.Start(t, whatsapptest.Retries(slices.Repeat([]time.Duration{200 * time.Millisecond}, 1000)...))
	address := freeAddress(t)
	server.ServeEvents("http://" + address + "/whatsapp")
	return livePlatform{
		promise: platformtest.Exactly,
		environ: []string{
			"HOLDFAST_CHANNELS_WHATSAPP_ENABLED=true", "HOLDFAST_CHANNELS_WHATSAPP_API_URL=" + server.APIURL(),
			"HOLDFAST_CHANNELS_WHATSAPP_LISTEN=" + address, "HOLDFAST_CHANNELS_WHATSAPP_ALLOW_USERS=*",
			"HOLDFAST_CHANNELS_WHATSAPP_REPORT_WAIT=5s", // longer than a start takes
			"WHATSAPP_PHONE_NUMBER_ID=" + whatsapptest.PhoneNumberID, "WHATSAPP_ACCESS_TOKEN=" + whatsapptest.AccessToken,
			"WHATSAPP_APP_SECRET=" + whatsapptest.AppSecret, "WHATSAPP_VERIFY_TOKEN=" + whatsapptest.VerifyToken,
		},
		say: func(text string) { server.Say(whatsapptest.Ana, text) },
		seen: func() (texts []string) {
			for _, m := range server.Sent() {
				texts = append(texts, m.Text)
			}
			return texts
		},
		backlog: 5,
	}
}
