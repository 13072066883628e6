// Package config has the settings of a Holdfast process, their defaults, and how
// they are read from a YAML file and the environment.
package config

import (
	"path/filepath"
	"time"
)

// Config is everything that can be set. Its YAML form has the same shape: the
// tags are the keys. Take one from [Load], [LoadFile] or [Default].
type Config struct {
	Home      string              `yaml:"-"`         // absolute; set by whoever loads
	Model     string              `yaml:"model"`     // "provider/model"; empty: chosen from what there is
	Fallbacks []string            `yaml:"fallbacks"` // models to try, in order, when Model cannot answer
	Prices    map[string]Price    `yaml:"prices"`    // by "provider/model"; a "*" at the end stands for any other end
	Providers map[string]Provider `yaml:"providers"` // by name, as written
	Agent     Agent               `yaml:"agent"`
	Memory    Memory              `yaml:"memory"`
	Temporal  Temporal            `yaml:"temporal"`
	Engine    Engine              `yaml:"engine"`
	Store     Store               `yaml:"store"`
	Workspace string              `yaml:"workspace"` // absolute once loaded
	Tools     Tools               `yaml:"tools"`
	Approvals Approvals           `yaml:"approvals"`
	Channels  Channels            `yaml:"channels"`
	Jobs      Jobs                `yaml:"jobs"`
	Heartbeat Heartbeat           `yaml:"heartbeat"`
	Metrics   Metrics             `yaml:"metrics"`
	Log       Log                 `yaml:"log"`
}

// Provider says how to reach a model provider.
type Provider struct {
	Kind     string            `yaml:"kind"`     // whose API it speaks; empty: the one that its name means
	BaseURL  string            `yaml:"base_url"` // empty: the kind's own
	APIKey   Secret            `yaml:"api_key"`
	Timeout  time.Duration     `yaml:"timeout"`   // of one model call
	Headers  map[string]Secret `yaml:"headers"`   // sent with every request
	NoStream bool              `yaml:"no_stream"` // ask for whole answers
}

// Price is what a model costs, in US dollars per million tokens.
type Price struct {
	Input  float64 `yaml:"input"`
	Cached float64 `yaml:"cached"` // of input that the provider had in its cache; 0: as Input
	Output float64 `yaml:"output"`
}

// What Memory.Scope may be.
const (
	MemoryAuto      = "auto"      // sender in direct messages, channel in channels, workspace on the command line and the API
	MemoryWorkspace = "workspace" // everybody shares one memory
	MemoryChannel   = "channel"   // each chat has its own
	MemorySender    = "sender"    // each person has their own
)

// Memory says what is remembered for whom.
type Memory struct {
	Scope string `yaml:"scope"`
}

// What Agent.MidTurn may be.
const (
	MidTurnSteer = "steer" // a message joins the running turn of its sender
	MidTurnQueue = "queue" // a message waits for the running turn
)

// Agent bounds and tunes the agent loop.
type Agent struct {
	MaxIterations         int     `yaml:"max_iterations"` // model calls in a turn
	SubagentMaxIterations int     `yaml:"subagent_max_iterations"`
	SubagentDepth         int     `yaml:"subagent_depth"` // how deep subagents may spawn subagents; 1: not at all
	MemoryWindow          int     `yaml:"memory_window"`  // messages of earlier turns in a prompt
	MaxTokens             int     `yaml:"max_tokens"`     // of one completion
	Temperature           float64 `yaml:"temperature"`
	MidTurn               string  `yaml:"mid_turn"`
}

// Temporal says where the Temporal cluster is, or, with an empty Address, on
// which loopback ports the embedded engine listens. Port 0 means any free one.
type Temporal struct {
	Address   string `yaml:"address"` // host:port of an existing cluster
	Namespace string `yaml:"namespace"`
	APIKey    Secret `yaml:"api_key"`
	TLS       TLS    `yaml:"tls"`
	Port      int    `yaml:"port"`
	UIPort    int    `yaml:"ui_port"`
}

// TLS has the files and names of a TLS connection.
type TLS struct {
	Cert       string `yaml:"cert"` // PEM file of our certificate
	Key        string `yaml:"key"`  // PEM file of its key
	CA         string `yaml:"ca"`   // PEM file of who signs the server's; empty: the system's
	ServerName string `yaml:"server_name"`
	Disabled   bool   `yaml:"disabled"` // plain text, also with an API key
}

// UseTLS reports whether the connection to the cluster is encrypted: it is when
// there is an API key or anything under tls, unless tls.disabled.
func (t Temporal) UseTLS() bool {
	if t.TLS.Disabled {
		return false
	}
	return t.APIKey != "" || t.TLS != TLS{}
}

// What Engine.Durability may be.
const (
	DurabilityFull   = "full"   // survives the loss of power
	DurabilityNormal = "normal" // survives the end of the process only; faster
)

// Engine tunes the embedded Temporal server.
type Engine struct {
	Durability string        `yaml:"durability"`
	Retention  time.Duration `yaml:"retention"` // how long runs stay visible once closed
}

// Store says where messages and replies are kept, and for how long.
type Store struct {
	DSN       Secret        `yaml:"dsn"`       // "postgres://…"; empty: SQLite under home
	Retention time.Duration `yaml:"retention"` // sessions not used for that long are removed; 0: none are
}

// Tools are the settings of the agent's tools.
type Tools struct {
	RestrictToWorkspace bool `yaml:"restrict_to_workspace"` // file tools stay in the workspace
	Exec                Exec `yaml:"exec"`
	Web                 Web  `yaml:"web"`
	MCP                 MCP  `yaml:"mcp"`
}

// MCP says which MCP servers' tools the agent has.
type MCP struct {
	Servers map[string]MCPServer `yaml:"servers"` // by name, which becomes part of their tools' names
}

// MCPServer is an MCP server: a command that we run, or a URL.
type MCPServer struct {
	Command string            `yaml:"command"`
	Args    []string          `yaml:"args"`
	Env     map[string]Secret `yaml:"env"`
	Dir     string            `yaml:"dir"` // where the command runs; empty: the workspace
	URL     string            `yaml:"url"`
	Headers map[string]Secret `yaml:"headers"` // sent with every request
	Timeout time.Duration     `yaml:"timeout"` // of a call; 0: a minute
	Tools   []string          `yaml:"tools"`   // those that the agent gets; empty: all
}

// Exec bounds the commands that the agent runs.
type Exec struct {
	Timeout         time.Duration `yaml:"timeout"`          // when the model asks for none
	MaxTimeout      time.Duration `yaml:"max_timeout"`      // the longest it may ask for
	SessionLifetime time.Duration `yaml:"session_lifetime"` // of a command that takes input, at most
}

// What Web.Search may be.
const (
	SearchAuto       = "auto" // the first that is set up, else DuckDuckGo
	SearchBrave      = "brave"
	SearchTavily     = "tavily"
	SearchSearXNG    = "searxng"
	SearchDuckDuckGo = "duckduckgo"
	SearchOff        = "off"
)

// Web are the settings of web search.
type Web struct {
	Search     string     `yaml:"search"`
	Brave      KeyedSite  `yaml:"brave"`
	Tavily     KeyedSite  `yaml:"tavily"`
	SearXNG    SearchSite `yaml:"searxng"`
	DuckDuckGo SearchSite `yaml:"duckduckgo"`
}

// KeyedSite is a search service that wants a key.
type KeyedSite struct {
	APIKey  Secret `yaml:"api_key"`
	BaseURL string `yaml:"base_url"` // empty: the service's own
}

// SearchSite is a search service that wants no key.
type SearchSite struct {
	BaseURL string `yaml:"base_url"` // empty: the service's own; SearXNG has none
}

// Channels are the settings of the channels.
type Channels struct {
	HTTP  HTTP  `yaml:"http"`
	Slack Slack `yaml:"slack"`
}

// HTTP are the settings of the HTTP API.
type HTTP struct {
	Enabled bool   `yaml:"enabled"`
	Listen  string `yaml:"listen"` // host:port
	Token   Secret `yaml:"token"`  // bearer token; required beyond loopback
}

// Metrics says where what is counted can be read.
type Metrics struct {
	Listen string `yaml:"listen"` // host:port; empty: nowhere, and nothing is counted
}

// What Log.Format may be.
const (
	LogAuto = "auto" // text on a terminal, JSON otherwise
	LogText = "text"
	LogJSON = "json"
)

// Log says what is logged and how.
type Log struct {
	Level  string `yaml:"level"` // debug, info, warn, error
	Format string `yaml:"format"`
}

// Default returns the settings of a process whose home is home and where nothing
// else is set. Every default is here.
func Default(home string) Config {
	return Config{
		Home:      home,
		Fallbacks: []string{},
		Providers: map[string]Provider{},
		Agent: Agent{
			MaxIterations:         40,
			SubagentMaxIterations: 15,
			SubagentDepth:         1,
			MemoryWindow:          100,
			MaxTokens:             4096,
			Temperature:           0.7,
			MidTurn:               MidTurnSteer,
		},
		Prices:    map[string]Price{},
		Memory:    Memory{Scope: MemoryAuto},
		Temporal:  Temporal{Namespace: "default", Port: 7233, UIPort: 8233},
		Engine:    Engine{Durability: DurabilityFull, Retention: 30 * day},
		Workspace: filepath.Join(home, "workspace"),
		Tools: Tools{
			RestrictToWorkspace: true,
			Exec:                Exec{Timeout: time.Minute, MaxTimeout: 30 * time.Minute, SessionLifetime: 12 * time.Hour},
			Web:                 Web{Search: SearchAuto},
			MCP:                 MCP{Servers: map[string]MCPServer{}},
		},
		Channels: Channels{
			HTTP: HTTP{Enabled: true, Listen: "127.0.0.1:8090"},
			Slack: Slack{
				Mode: SlackSocket, Listen: "127.0.0.1:8091", Path: "/slack", APIURL: "https://slack.com/api/",
				AllowUsers: []string{}, AllowChannels: []string{}, AllowBots: []string{},
				Respond: SlackThread, Stream: true, MaxFileMB: 20,
			},
		},
		Approvals: Approvals{Rules: []string{}, Timeout: 3 * day, Approvers: []string{}},
		Jobs:      Jobs{CatchUp: time.Hour, Overlap: OverlapSkip, MinEvery: time.Minute},
		Heartbeat: Heartbeat{Enabled: true, Every: 30 * time.Minute},
		Log:       Log{Level: "info", Format: LogAuto},
	}
}

// DefaultProvider returns the settings of a provider of which nothing is set.
func DefaultProvider() Provider {
	return Provider{Timeout: 10 * time.Minute}
}

// Provider returns the settings of the provider of that name, which need not be
// in the file.
func (c Config) Provider(name string) Provider {
	if p, ok := c.Providers[name]; ok {
		return p
	}
	return DefaultProvider()
}

// DataDir is where the engine and the store keep their files.
func (c Config) DataDir() string { return filepath.Join(c.Home, "data") }

// StoreDSN is where the store is: the configured DSN or a SQLite file in DataDir.
func (c Config) StoreDSN() string {
	if dsn := c.Store.DSN.Reveal(); dsn != "" {
		return dsn
	}
	return filepath.Join(c.DataDir(), "store.db")
}
