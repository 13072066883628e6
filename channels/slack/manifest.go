package slack

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"text/template"

	_ "embed" // for the manifest

	"go.yaml.in/yaml/v3"
)

// Manifest describes the Slack app to create.
type Manifest struct {
	URL       string // https URL for [ModeHTTP]; empty for [ModeSocket]
	AgentView bool   // list the app among Slack's agents
	Home      bool   // show each person a page in the Home tab
	Reactions bool   // let people ask with a reaction
}

//go:embed manifest.yaml
var manifestText string

var manifestTemplate = template.Must(template.New("manifest").Parse(manifestText))

// errNoURL is returned for a URL that Slack does not accept.
var errNoURL = errors.New("not a URL that Slack can reach, such as https://holdfast.example.com/slack")

// YAML returns the manifest as Slack's "From a manifest" dialog takes it.
func (m Manifest) YAML() (string, error) {
	if m.URL != "" {
		address, err := requestURL(m.URL)
		if err != nil {
			return "", err
		}
		m.URL = strconv.Quote(address)
	}
	var text strings.Builder
	if err := manifestTemplate.Execute(&text, m); err != nil {
		return "", fmt.Errorf("manifest: %w", err)
	}
	return text.String(), nil
}

// JSON returns the manifest in the form that the App Manifest API takes. The dialog
// takes it as well.
func (m Manifest) JSON() (string, error) {
	text, err := m.YAML()
	if err != nil {
		return "", err
	}
	var decoded map[string]any
	if err := yaml.Unmarshal([]byte(text), &decoded); err != nil {
		return "", fmt.Errorf("manifest: %w", err)
	}
	encoded, err := json.MarshalIndent(decoded, "", "  ")
	return string(encoded) + "\n", err
}

// requestURL returns the URL that Slack sends requests to. Without a path it is the
// default of channels.slack.path.
func requestURL(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", errNoURL
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/slack"
	}
	return u.String(), nil
}
