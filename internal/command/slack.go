package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/channels/slack"
)

func slackCommand() *cobra.Command {
	parent := &cobra.Command{
		Use:   "slack",
		Short: "Set the Slack app up",
	}
	parent.AddCommand(slackManifestCommand())
	return parent
}

func slackManifestCommand() *cobra.Command {
	var address string
	cmd := &cobra.Command{
		Use:   "manifest",
		Short: "Print the manifest of the Slack app, to create it from",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			manifest := slack.Manifest
			if address != "" {
				var err error
				if manifest, err = slack.ManifestAt(address); err != nil {
					return fmt.Errorf("--url: %w", err)
				}
			}
			_, err := fmt.Fprint(cmd.OutOrStdout(), manifest)
			return err
		},
	}
	cmd.Flags().StringVar(&address, "url", "", "for mode: http: the https URL at which Slack reaches channels.slack.listen and .path")
	return cmd
}
