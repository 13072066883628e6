package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/channels/wechat"
	"github.com/holdfast-ai/holdfast/internal/node"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/text"
)

func wechatCommand(env environment) *cobra.Command {
	return newGroup("wechat", "Log in to WeChat", wechatLoginCommand(env))
}

func wechatLoginCommand(env environment) *cobra.Command {
	return newCommand("login", "Log in by a QR code, and let the person in who scans it", func(cmd *cobra.Command, _ []string) error {
		cfg, log, err := env.load(cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		if err := node.MakeDirs(cfg.DataDir()); err != nil {
			return err
		}
		stored, err := store.Open(cmd.Context(), store.Options{DSN: cfg.StoreDSN()})
		if err != nil {
			return err
		}
		defer stored.Close()
		channel := node.OpenWeChat(cfg.Channels.WeChat, log)
		channel.UseStore(stored)
		out := cmd.OutOrStdout()
		account, err := channel.Login(cmd.Context(), &wechatDialog{in: bufio.NewReader(cmd.InOrStdin()), out: out})
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "Logged in as %s.\n", text.Printable(account.BotID))
		if account.UserID != "" {
			fmt.Fprintf(out, "%[1]s may use the bot; `holdfast pairing remove wechat %[1]s` takes that back.\n", text.Printable(account.UserID))
		}
		if !cfg.Channels.WeChat.Enabled {
			fmt.Fprintln(out, "Now set channels.wechat.enabled, or HOLDFAST_CHANNELS_WECHAT_ENABLED=true, and run `holdfast up`.")
		}
		return nil
	})
}

// wechatDialog is a [wechat.Dialog] in a terminal.
type wechatDialog struct {
	in  *bufio.Reader
	out io.Writer
}

// Show implements [wechat.Dialog].
func (d *wechatDialog) Show(code string) {
	drawn, err := wechat.QR(code)
	if err != nil {
		drawn = ""
	}
	fmt.Fprintf(d.out, "%sScan this code with WeChat on your phone, or open there:\n%s\n", drawn, text.Printable(code))
}

// Scanned implements [wechat.Dialog].
func (d *wechatDialog) Scanned() { fmt.Fprintln(d.out, "Scanned. Confirm it on the phone.") }

// Ask implements [wechat.Dialog].
func (d *wechatDialog) Ask(_ context.Context, again bool) (string, error) {
	if again {
		fmt.Fprintln(d.out, "These were not the digits.")
	}
	fmt.Fprint(d.out, "The digits that the phone shows: ")
	line, err := d.in.ReadString('\n')
	if line = strings.TrimSpace(line); line != "" {
		return line, nil
	}
	return "", errors.Join(errors.New("no digits were entered"), err)
}
