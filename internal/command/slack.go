package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/channels/slack"
)

func slackCommand() *cobra.Command {
	return newGroup("slack", "Set up the Slack app", slackManifestCommand())
}

func slackManifestCommand() *cobra.Command {
	var manifest slack.Manifest
	var asJSON bool
	cmd := newCommand("manifest", "Print the manifest to create the Slack app from", func(cmd *cobra.Command, _ []string) error {
		print := manifest.YAML
		if asJSON {
			print = manifest.JSON
		}
		text, err := print()
		if err != nil {
			return fmt.Errorf("--url: %w", err)
		}
		_, err = fmt.Fprint(cmd.OutOrStdout(), text)
		return err
	})
	cmd.Flags().StringVar(&manifest.URL, "url", "", "for mode: http: the https URL at which Slack reaches channels.slack.listen and .path")
	cmd.Flags().BoolVar(&manifest.AgentView, "agent-view", false, "list the app among Slack's agents")
	cmd.Flags().BoolVar(&manifest.Home, "home", false, "show each person their approvals, jobs and usage in the Home tab")
	cmd.Flags().BoolVar(&manifest.Reactions, "reactions", false, "let people ask with a reaction (channels.slack.reactions)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON instead of YAML")
	return cmd
}
