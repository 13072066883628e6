package http_test

import (
	"context"
	"encoding/json"
	"fmt"
	nethttp "net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/http"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	channeltest.RunReceiver(t, func(t *testing.T) channeltest.Platform {
		channel, err := http.New(http.Options{Listen: "127.0.0.1:0"})
		require.NoError(t, err)
		return channeltest.Platform{
			Name:     http.Name,
			Receiver: channel,
			Deliver: func(ctx context.Context, msg domain.Inbound) error {
				body, err := json.Marshal(http.SendRequest{Session: msg.Chat, Text: msg.Text, ID: msg.PlatformID, Sender: msg.Sender})
				if err != nil {
					return err
				}
				request, err := nethttp.NewRequestWithContext(ctx, "POST", "http://"+channel.Addr().String()+"/v1/messages", strings.NewReader(string(body)))
				if err != nil {
					return err
				}
				response, err := nethttp.DefaultClient.Do(request)
				if err != nil {
					return err
				}
				defer func() { _ = response.Body.Close() }()
				if response.StatusCode != nethttp.StatusAccepted {
					return fmt.Errorf("status %d", response.StatusCode)
				}
				return nil
			},
		}
	})
}
