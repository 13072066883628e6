// Package config defines the settings of a Holdfast process and their defaults, and
// loads them from a YAML file and the environment.
package config

import (
	"path/filepath"
	"time"
)

// Config has all settings. The tags are the keys in YAML. Get one from [Load], [LoadFile]
// or [Default].
type Config struct {
	Home      string              `yaml:"-"`         // absolute; not a setting
	Model     string              `yaml:"model"`     // "provider/model"; empty: the first available
	Fallbacks []string            `yaml:"fallbacks"` // models to try, in order, if Model fails
	Prices    map[string]Price    `yaml:"prices"`    // by "provider/model"; a trailing "*" matches any suffix
	Providers map[string]Provider `yaml:"providers"` // by name
	Agent     Agent               `yaml:"agent"`
	Memory    Memory              `yaml:"memory"`
	Temporal  Temporal            `yaml:"temporal"`
	Worker    Worker              `yaml:"worker"`
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

// Provider are the settings of a model provider.
type Provider struct {
	Kind     string            `yaml:"kind"`     // the API it implements; empty: that of its name
	BaseURL  string            `yaml:"base_url"` // empty: the kind's default
	APIKey   Secret            `yaml:"api_key"`
	Timeout  time.Duration     `yaml:"timeout"`   // of one model call
	Headers  map[string]Secret `yaml:"headers"`   // sent with every request
	NoStream bool              `yaml:"no_stream"` // request complete answers instead of streams
}

// Price is a model's price in US dollars per million tokens.
type Price struct {
	Input  float64 `yaml:"input"`
	Cached float64 `yaml:"cached"` // of cached input; 0: as Input
	Output float64 `yaml:"output"`
}

// Values of Memory.Scope.
const (
	MemoryAuto      = "auto"      // sender in direct messages, channel in channels, workspace on the command line and the API
	MemoryWorkspace = "workspace" // shared by everyone
	MemoryChannel   = "channel"   // one for each chat
	MemorySender    = "sender"    // one for each person
)

// Memory are the settings of long-term memory.
type Memory struct {
	Scope string `yaml:"scope"`
}

// Values of Agent.MidTurn.
const (
	MidTurnSteer = "steer" // a message joins the running turn of its sender
	MidTurnQueue = "queue" // a message waits for the running turn
)

// Agent are the settings of the agent loop.
type Agent struct {
	MaxIterations         int     `yaml:"max_iterations"` // model calls in a turn
	SubagentMaxIterations int     `yaml:"subagent_max_iterations"`
	SubagentDepth         int     `yaml:"subagent_depth"` // levels of subagents; 1: subagents cannot spawn subagents
	MemoryWindow          int     `yaml:"memory_window"`  // messages of earlier turns in a prompt
	MaxTokens             int     `yaml:"max_tokens"`     // of one completion
	Temperature           float64 `yaml:"temperature"`
	MidTurn               string  `yaml:"mid_turn"`
}

// Temporal is the address of a Temporal cluster or, if Address is empty, the loopback
// ports of the embedded engine. Port 0 is any free port.
type Temporal struct {
	Address   string `yaml:"address"` // host:port of an existing cluster
	Namespace string `yaml:"namespace"`
	Prefix    string `yaml:"prefix"` // of the names of task queues, workflows and schedules; empty: none
	APIKey    Secret `yaml:"api_key"`
	TLS       TLS    `yaml:"tls"`
	Port      int    `yaml:"port"`
	UIPort    int    `yaml:"ui_port"`
}

// TLS are the settings of a TLS connection.
type TLS struct {
	Cert       string `yaml:"cert"` // PEM file of the client certificate
	Key        string `yaml:"key"`  // PEM file of its key
	CA         string `yaml:"ca"`   // PEM file of the server's CA; empty: the system's CAs
	ServerName string `yaml:"server_name"`
	Disabled   bool   `yaml:"disabled"` // no TLS, even with an API key
}

// UseTLS reports whether to encrypt the connection: if there is an API key or anything
// under tls, unless tls.disabled.
func (t Temporal) UseTLS() bool {
	if t.TLS.Disabled {
		return false
	}
	return t.APIKey != "" || t.TLS != TLS{}
}

// Worker are the settings of a worker: how much it does at once, of each kind, how it stops,
// and which build it is.
type Worker struct {
	ModelCalls int           `yaml:"model_calls"`
	ToolCalls  int           `yaml:"tool_calls"`
	Deliveries int           `yaml:"deliveries"` // per channel
	Control    int           `yaml:"control"`    // commands, ends of turns, reports and jobs
	Drain      time.Duration `yaml:"drain"`      // for calls to finish when it stops
	Deployment string        `yaml:"deployment"` // name of its deployment, for Worker Versioning; empty: no versioning
	BuildID    string        `yaml:"build_id"`   // of its build in the deployment; empty: the program's
}

// Values of Engine.Durability.
const (
	DurabilityFull   = "full"   // survives power loss
	DurabilityNormal = "normal" // survives only process crashes; faster
)

// Engine are the settings of the embedded Temporal server.
type Engine struct {
	Durability string        `yaml:"durability"`
	Retention  time.Duration `yaml:"retention"` // how long closed runs are kept
}

// Store are the settings of the database.
type Store struct {
	DSN       Secret        `yaml:"dsn"`       // "postgres://…"; empty: SQLite under home
	Retention time.Duration `yaml:"retention"` // sessions unused for this long are deleted; 0: never
}

// Tools are the settings of the agent's tools.
type Tools struct {
	RestrictToWorkspace bool          `yaml:"restrict_to_workspace"` // confine the file tools to the workspace
	Exec                Exec          `yaml:"exec"`
	Web                 Web           `yaml:"web"`
	MCP                 MCP           `yaml:"mcp"`
	Transcription       Transcription `yaml:"transcription"`
}

// Transcription are the settings of the service that transcribes voice messages and other
// audio. Its API is OpenAI's.
type Transcription struct {
	Enabled bool   `yaml:"enabled"`
	BaseURL string `yaml:"base_url"`
	APIKey  Secret `yaml:"api_key"`
	Model   string `yaml:"model"`
}

// groqURL is the base URL of Groq, for which GROQ_API_KEY is the key.
const groqURL = "https://api.groq.com/openai/v1"

// MCP are the settings of MCP servers.
type MCP struct {
	Servers map[string]MCPServer `yaml:"servers"` // by name, the prefix of their tools' names
}

// MCPServer is an MCP server, started by a command or reached at a URL.
type MCPServer struct {
	Command string            `yaml:"command"`
	Args    []string          `yaml:"args"`
	Env     map[string]Secret `yaml:"env"`
	Dir     string            `yaml:"dir"` // working directory of the command, absolute; empty: its folder in DataDir
	URL     string            `yaml:"url"`
	Headers map[string]Secret `yaml:"headers"` // sent with every request
	Timeout time.Duration     `yaml:"timeout"` // of a call; 0: one minute
	Tools   []string          `yaml:"tools"`   // the tools to offer; empty: all
}

// Exec limits the commands that the agent runs.
type Exec struct {
	Timeout         time.Duration `yaml:"timeout"`          // default
	MaxTimeout      time.Duration `yaml:"max_timeout"`      // the longest that the model may request
	SessionLifetime time.Duration `yaml:"session_lifetime"` // of a command that takes input
}

// Values of Web.Search.
const (
	SearchAuto       = "auto" // the first configured one, else DuckDuckGo
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

// KeyedSite is a search service with an API key.
type KeyedSite struct {
	APIKey  Secret `yaml:"api_key"`
	BaseURL string `yaml:"base_url"` // empty: the service's default
}

// SearchSite is a search service without an API key.
type SearchSite struct {
	BaseURL string `yaml:"base_url"` // empty: the service's default; SearXNG has none
}

// Channels are the settings of the channels.
type Channels struct {
	Webhook Webhook `yaml:"webhook"`
	// Chats are the settings of single chats, by CHANNEL:CHAT, such as slack:C012ABC.
	Chats map[string]Chat `yaml:"chats"`

	Email    Email    `yaml:"email"`
	HTTP     HTTP     `yaml:"http"`
	WeChat   WeChat   `yaml:"wechat"`
	Feishu   Feishu   `yaml:"feishu"`
	DingTalk DingTalk `yaml:"dingtalk"`
	Matrix   Matrix   `yaml:"matrix"`
	Slack    Slack    `yaml:"slack"`
	Telegram Telegram `yaml:"telegram"`
	Discord  Discord  `yaml:"discord"`
	QQ       QQ       `yaml:"qq"`
	WhatsApp WhatsApp `yaml:"whatsapp"`

	Mattermost Mattermost `yaml:"mattermost"`
}

// HTTP are the settings of the HTTP API.
type HTTP struct {
	Enabled bool   `yaml:"enabled"`
	Listen  string `yaml:"listen"` // host:port
	Token   Secret `yaml:"token"`  // bearer token; required unless Listen is a loopback address
}

// Metrics are the settings of the Prometheus endpoint.
type Metrics struct {
	Listen string `yaml:"listen"` // host:port; empty: off
}

// Values of Log.Format.
const (
	LogAuto = "auto" // text on a terminal, JSON otherwise
	LogText = "text"
	LogJSON = "json"
)

// Log are the settings of the log.
type Log struct {
	Level  string `yaml:"level"` // debug, info, warn, error
	Format string `yaml:"format"`
}

// Default returns the default settings for a home. All defaults are defined here.
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
		Worker:    Worker{ModelCalls: 200, ToolCalls: 200, Deliveries: 50, Control: 50, Drain: 5 * time.Second},
		Engine:    Engine{Durability: DurabilityFull, Retention: 30 * day},
		Workspace: filepath.Join(home, "workspace"),
		Tools: Tools{
			RestrictToWorkspace: true,
			Exec:                Exec{Timeout: time.Minute, MaxTimeout: 30 * time.Minute, SessionLifetime: 12 * time.Hour},
			Web:                 Web{Search: SearchAuto},
			MCP:                 MCP{Servers: map[string]MCPServer{}},
			Transcription:       Transcription{BaseURL: groqURL, Model: "whisper-large-v3"},
		},
		Channels: Channels{
			Webhook: defaultWebhook(),
			Chats:   map[string]Chat{},

			Email:    defaultEmail(),
			HTTP:     HTTP{Enabled: true, Listen: "127.0.0.1:8090"},
			Slack:    defaultSlack(),
			WeChat:   defaultWeChat(),
			Feishu:   defaultFeishu(),
			Telegram: defaultTelegram(),
			Discord:  defaultDiscord(),
			DingTalk: defaultDingTalk(),
			Matrix:   defaultMatrix(),
			QQ:       defaultQQ(),
			WhatsApp: defaultWhatsApp(),

			Mattermost: defaultMattermost(),
		},
		Approvals: Approvals{Rules: []string{}, Timeout: 3 * day, Approvers: []string{}},
		Jobs:      Jobs{CatchUp: time.Hour, Overlap: OverlapSkip, MinEvery: time.Minute},
		Heartbeat: Heartbeat{Enabled: true, Every: 30 * time.Minute},
		Log:       Log{Level: "info", Format: LogAuto},
	}
}

// DefaultProvider returns the default settings of a provider.
func DefaultProvider() Provider {
	return Provider{Timeout: 10 * time.Minute}
}

// Provider returns the settings of a provider, or the defaults if it is not configured.
func (c Config) Provider(name string) Provider {
	if p, ok := c.Providers[name]; ok {
		return p
	}
	return DefaultProvider()
}

// DataDir is the directory of the engine and the store.
func (c Config) DataDir() string { return filepath.Join(c.Home, "data") }

// StoreDSN is where the store is: the configured DSN or a SQLite file in DataDir.
func (c Config) StoreDSN() string {
	if dsn := c.Store.DSN.Reveal(); dsn != "" {
		return dsn
	}
	return filepath.Join(c.DataDir(), "store.db")
}
