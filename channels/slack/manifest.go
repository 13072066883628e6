package slack

import (
	"errors"
	"net/url"
	"strconv"
	"strings"

	_ "embed" // for the manifest
)

// Manifest is the manifest (YAML) of the Slack app that the channel needs in
// [ModeSocket], as Slack's "Create New App" takes it.
//
//go:embed manifest.yaml
var Manifest string

// What the manifest says of [ModeHTTP], and of Socket Mode.
const (
	manifestURL    = "https://holdfast.example.com/slack"
	manifestSocket = "socket_mode_enabled: true # false for mode: http"
)

// errNoURL is returned for a URL that Slack does not take.
var errNoURL = errors.New("not a URL that Slack can reach, such as https://holdfast.example.com/slack")

// ManifestAt returns the manifest of the app for [ModeHTTP], whose requests Slack
// sends to this https URL.
func ManifestAt(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", errNoURL
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/slack" // the default of channels.slack.path
	}
	quoted := strconv.Quote(u.String())
	return strings.NewReplacer(
		"# url: "+manifestURL+" # for mode: http", "url: "+quoted,
		"# request_url: "+manifestURL+" # for mode: http", "request_url: "+quoted,
		manifestSocket, "socket_mode_enabled: false",
	).Replace(Manifest), nil
}
