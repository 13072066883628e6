package config_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/config"
)

func TestErrorsContainTheirPosition(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, yaml string
		environ    []string
		want       []string
	}{
		{"unknown key at the top", "\nmodle: a/b", nil, []string{"config:2: modle: unknown setting; did you mean model?"}},
		{"unknown key further down", "agent:\n  max_iteration: 3", nil, []string{"config:2: agent.max_iteration: unknown setting; did you mean agent.max_iterations?"}},
		{"key at the wrong level", "max_tokens: 3", nil, []string{"config:1: max_tokens: unknown setting; did you mean agent.max_tokens?"}},
		{"misspelled key at the wrong level", "agent: {modle: a/b}", nil, []string{"config:1: agent.modle: unknown setting; did you mean model?"}},
		{"camel case", "agent: {midTurn: queue}", nil, []string{"config:1: agent.midTurn: unknown setting; did you mean agent.mid_turn?"}},
		{"unknown key of a provider with a dot", "providers: {a.B: {apikey: x}}", nil, []string{`config:1: providers."a.B".apikey: unknown setting; did you mean providers.NAME.api_key?`}},
		{"key in upper case", "Model: a/b", nil, []string{"config:1: Model: unknown setting; did you mean model?"}},
		{"text for a number", "agent: {max_iterations: many}", nil, []string{`config:1: agent.max_iterations: must be a whole number, not "many"`}},
		{"fraction for a whole number", "agent: {max_iterations: 1.5}", nil, []string{`config:1: agent.max_iterations: must be a whole number, not "1.5"`}},
		{"text for a fraction", "agent: {temperature: hot}", nil, []string{`config:1: agent.temperature: must be a number, not "hot"`}},
		{"no number at all", "agent: {temperature: .nan}", nil, []string{`config:1: agent.temperature: must be a number, not ".nan"`}},
		{"text for a bool", "channels: {http: {enabled: maybe}}", nil, []string{`config:1: channels.http.enabled: must be true or false, not "maybe"`}},
		{"list for a text", "model: [a]", nil, []string{"config:1: model: must be a string, not a list"}},
		{"list for a secret", "store: {dsn: [hush]}", nil, []string{"config:1: store.dsn: must be a string, not a list"}},
		{"text for a list", "fallbacks: a", nil, []string{"config:1: fallbacks: must be a list, not a single value"}},
		{"mappings in a list", "fallbacks: [{a: b}]", nil, []string{"config:1: fallbacks: must be a list of strings, not of a mapping"}},
		{"text for a mapping", "agent: fast", nil, []string{"config:1: agent: must be a mapping of keys to values, not a single value"}},
		{"text for the file", "hello", nil, []string{"config:1: the file: must be a mapping of keys to values, not a single value"}},
		{"number for a duration", "engine: {retention: 30}", nil, []string{`config:1: engine.retention: must be a duration such as 60s, 10m or 30d, not "30"`}},
		{"odd days", "engine: {retention: 1.5d}", nil, []string{`config:1: engine.retention: must be a duration such as 60s, 10m or 30d, not "1.5d"`}},
		{"broken YAML", "agent:\n  a: [\n", nil, []string{"config:2: is not valid YAML: did not find expected node content"}},
		{"key twice", "model: a\nlog: {}\nmodel: b", nil, []string{`config:3: is not valid YAML: mapping key "model" already defined at line 1`}},
		{"alias into itself", "providers: &a {x: *a}", nil, []string{"config: is not valid YAML: anchor 'a' value contains itself"}},
		{"two documents", "model: a\n---\nmodel: b", nil, []string{"config: has more than one document"}},
		{"variable not set", "model: ${NONE}", nil, []string{"config:1: model: environment variable NONE is not set; write ${NONE:-} to allow that"}},
		{"variable not closed", "model: ${NONE", nil, []string{"config:1: model: has a ${ without a }; write $$ for a dollar sign"}},
		{"no variable's name", "fallbacks: ['${1}']", nil, []string{"config:1: fallbacks: has ${…} with an invalid variable name; write $$ for a dollar sign"}},
		{"unknown variable", "", []string{"HOLDFAST_AGENT_MAX_ITERATION=3"}, []string{"HOLDFAST_AGENT_MAX_ITERATION: unknown setting; did you mean HOLDFAST_AGENT_MAX_ITERATIONS?"}},
		{"variable of the wrong type", "", []string{"HOLDFAST_TEMPORAL_PORT=http"}, []string{`HOLDFAST_TEMPORAL_PORT: temporal.port: must be a whole number, not "http"`}},
		{"variable out of range", "agent: {max_tokens: 1}", []string{"HOLDFAST_AGENT_MAX_TOKENS=0"}, []string{"HOLDFAST_AGENT_MAX_TOKENS: agent.max_tokens: must be at least 1, not 0"}},
		{
			"variable that fits two providers", "providers: {a.b: {}, a_b: {}}",
			[]string{"HOLDFAST_PROVIDERS_A_B_KIND=openai"},
			[]string{`HOLDFAST_PROVIDERS_A_B_KIND: providers.a_b.kind: the variable also fits providers."a.b".kind`},
		},
		{
			"MCP servers", "tools: {mcp: {servers: {none: {}, 'bad name!': {url: 'http://x/mcp'}}}}", nil,
			[]string{
				`config: tools.mcp.servers."bad name!": must have a name of letters, digits, - and _, since it prefixes tool names`,
				"config: tools.mcp.servers.none: must have either command or url",
			},
		},
		{
			"names for Feishu's IDs", "channels: {feishu: {domain: china, allow_users: ['@ana', ou_1, '*'], allow_groups: [ops, oc_1], allow_bots: ['*']}}", nil,
			[]string{
				`config:1: channels.feishu.domain: must be one of feishu, lark, not "china"`,
				`config:1: channels.feishu.allow_users: has "@ana"; must be IDs that begin with ou_, or "*" for all`,
				`config:1: channels.feishu.allow_groups: has "ops"; must be IDs that begin with oc_, or "*" for all`,
				`config:1: channels.feishu.allow_bots: has "*"; must be IDs that begin with ou_`,
			},
		},
		{
			"Feishu without credentials", "channels: {feishu: {enabled: true, mode: webhook}}", nil,
			[]string{
				"config: channels.feishu.app_id: must be set, here or as FEISHU_APP_ID; see docs/feishu.md",
				"config: channels.feishu.app_secret: must be set, here or as FEISHU_APP_SECRET; see docs/feishu.md",
				"config: channels.feishu.encrypt_key: must be set for mode: webhook, here or as FEISHU_ENCRYPT_KEY, or else channels.feishu.verification_token",
			},
		},
		{
			"Telegram's token and IDs", "channels: {telegram: {token: 'secret', webhook_secret: 'a b', allow_users: ['@ana', '123', '*'], allow_groups: ['#ops', '-100123'], allow_bots: ['*']}}", nil,
			[]string{
				`config:1: channels.telegram.token: must be the bot's token, such as 123456789:AAE…`,
				`config:1: channels.telegram.webhook_secret: must have 1 to 256 letters, digits, - or _`,
				`config:1: channels.telegram.allow_users: has "@ana"; must be the IDs of people, such as 123456789 (not names, which change), or "*" for all`,
				`config:1: channels.telegram.allow_groups: has "#ops"; must be the IDs of groups, such as -1001234567890, or "*" for all`,
				`config:1: channels.telegram.allow_bots: has "*"; must be the IDs of bots, such as 123456789`,
			},
		},
		{
			"Telegram without a token", "channels: {telegram: {enabled: true, mode: webhook}}", nil,
			[]string{
				`config: channels.telegram.token: must be set, here or as TELEGRAM_BOT_TOKEN; see docs/telegram.md`,
				`config: channels.telegram.webhook_url: must be set for mode: webhook, to the https URL at which Telegram reaches channels.telegram.listen`,
			},
		},
		{
			"names for Slack's IDs", "channels: {slack: {allow_users: ['@ana', U012ABC, '*'], allow_channels: ['#ops'], allow_bots: ['*']}}", nil,
			[]string{
				`config:1: channels.slack.allow_users: has "@ana"; must be Slack IDs, such as U012ABC, or "*" for all`,
				`config:1: channels.slack.allow_channels: has "#ops"; must be Slack IDs, such as C012ABC, or "*" for all`,
				`config:1: channels.slack.allow_bots: has "*"; must be Slack IDs, such as B012ABC`,
			},
		},
		{
			"all at once", "agent:\n  max_tokens: 0\n  mid_turn: x\nfoo: 1",
			[]string{"HOLDFAST_LOG_LEVEL=loud"},
			[]string{
				"config:4: foo: unknown setting; did you mean log?",
				"config:2: agent.max_tokens: must be at least 1, not 0",
				`config:3: agent.mid_turn: must be one of steer, queue, not "x"`,
				`HOLDFAST_LOG_LEVEL: log.level: must be one of debug, info, warn, error, not "loud"`,
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := load(tt.yaml, tt.environ...)
			require.Error(t, err)
			require.Equal(t, tt.want, strings.Split(err.Error(), "\n"))
		})
	}
}

func TestValidateRefuses(t *testing.T) {
	t.Parallel()
	provider := func(p config.Provider) func(*config.Config) {
		return func(c *config.Config) { c.Providers["x"] = p }
	}
	tests := []struct {
		name   string
		change func(*config.Config)
		want   string
	}{
		{"spaces in a model", func(c *config.Config) { c.Model = "a b" }, "model: must not contain spaces"},
		{"an empty fallback", func(c *config.Config) { c.Fallbacks = []string{""} }, "fallbacks: must be models"},
		{"a slash in a provider's name", func(c *config.Config) { c.Providers["a/b"] = config.DefaultProvider() }, "providers.a/b: must have a name without"},
		{"a provider's URL without a scheme", provider(config.Provider{BaseURL: "localhost:1/v1", Timeout: 1}), "providers.x.base_url: must be a URL"},
		{"a provider's URL without a host", provider(config.Provider{BaseURL: "http:///v1", Timeout: 1}), "providers.x.base_url: must be a URL"},
		{"a line break in a key", provider(config.Provider{APIKey: "hush\n", Timeout: 1}), "providers.x.api_key: must not contain spaces or line breaks"},
		{"a provider without time", provider(config.Provider{}), "providers.x.timeout: must be above 0, not 0s"},
		{"a header of two lines", provider(config.Provider{Headers: map[string]config.Secret{"A": "b\r\nC: d"}, Timeout: 1}), "providers.x.headers.A: must be an HTTP header, on one line"},
		{"no iterations", func(c *config.Config) { c.Agent.MaxIterations = 0 }, "agent.max_iterations: must be at least 1, not 0"},
		{"no subagent iterations", func(c *config.Config) { c.Agent.SubagentMaxIterations = -1 }, "agent.subagent_max_iterations: must be at least 1, not -1"},
		{"no window", func(c *config.Config) { c.Agent.MemoryWindow = 0 }, "agent.memory_window: must be at least 1, not 0"},
		{"too hot", func(c *config.Config) { c.Agent.Temperature = 2.5 }, "agent.temperature: must be from 0 to 2, not 2.5"},
		{"an address without a port", func(c *config.Config) { c.Temporal.Address = "temporal" }, "temporal.address: must be host:port"},
		{"no namespace", func(c *config.Config) { c.Temporal.Namespace = "" }, "temporal.namespace: must not be empty"},
		{"a certificate without its key", func(c *config.Config) { c.Temporal.TLS.Cert = "a.pem" }, "temporal.tls: must have both cert and key"},
		{"a port too high", func(c *config.Config) { c.Temporal.Port = 70000 }, "temporal.port: must be a port"},
		{"a port twice", func(c *config.Config) { c.Temporal.UIPort = 7233 }, "temporal.ui_port: must differ from temporal.port, which is also 7233"},
		{"another durability", func(c *config.Config) { c.Engine.Durability = "none" }, `engine.durability: must be one of full, normal, not "none"`},
		{"short retention", func(c *config.Config) { c.Engine.Retention = 1 }, "engine.retention: must be at least 1h, not 1ns"},
		{"another database", func(c *config.Config) { c.Store.DSN = "mysql://u:hush@db" }, "store.dsn: must begin with postgres://"},
		{"sessions that go too soon", func(c *config.Config) { c.Store.Retention = 1 }, "store.retention: must be at least 1d, or 0 to keep all, not 1ns"},
		{"no time for commands", func(c *config.Config) { c.Tools.Exec.Timeout = 0 }, "tools.exec.timeout: must be above 0"},
		{"less time at most than usual", func(c *config.Config) { c.Tools.Exec.MaxTimeout = 1 }, "tools.exec.max_timeout: must be at least tools.exec.timeout"},
		{"another search", func(c *config.Config) { c.Tools.Web.Search = "altavista" }, "tools.web.search: must be one of"},
		{"brave without a key", func(c *config.Config) { c.Tools.Web.Search = "brave" }, "tools.web.brave.api_key: must be set"},
		{"tavily without a key", func(c *config.Config) { c.Tools.Web.Search = "tavily" }, "tools.web.tavily.api_key: must be set"},
		{"searxng without a URL", func(c *config.Config) { c.Tools.Web.Search = "searxng" }, "tools.web.searxng.base_url: must be set"},
		{"an API open to all", func(c *config.Config) { c.Channels.HTTP.Listen = "0.0.0.0:8090" }, "channels.http.listen: 0.0.0.0:8090 is reachable from other machines; set channels.http.token too, or listen on 127.0.0.1"},
		{"an API on every address", func(c *config.Config) { c.Channels.HTTP.Listen = ":8090" }, "is reachable from other machines"},
		{"an API at a name", func(c *config.Config) { c.Channels.HTTP.Listen = "localhost.example.com:80" }, "is reachable from other machines"},
		{"an API nowhere", func(c *config.Config) { c.Channels.HTTP.Listen = "8090" }, "channels.http.listen: must be host:port"},
		{"metrics nowhere", func(c *config.Config) { c.Metrics.Listen = "9090" }, "metrics.listen: must be host:port"},
		{"another log format", func(c *config.Config) { c.Log.Format = "xml" }, "log.format: must be one of auto, text, json"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cfg := config.Default("/h")
			tt.change(&cfg)
			err := cfg.Validate()
			require.ErrorContains(t, err, tt.want)
			require.NotContains(t, err.Error(), "\n", "one problem is one line")
			require.NotContains(t, err.Error(), "hush", "secrets are not shown")
		})
	}
}

func TestValidateAccepts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*config.HTTP)
	}{
		{"loopback", func(h *config.HTTP) { h.Listen = "127.8.0.1:0" }},
		{"loopback of IPv6", func(h *config.HTTP) { h.Listen = "[::1]:8090" }},
		{"localhost", func(h *config.HTTP) { h.Listen = "localhost:8090" }},
		{"everywhere with a token", func(h *config.HTTP) { h.Listen, h.Token = ":8090", "t" }},
		{"anything when off", func(h *config.HTTP) { h.Listen, h.Enabled = ":8090", false }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cfg := config.Default("/h")
			tt.change(&cfg.Channels.HTTP)
			require.NoError(t, cfg.Validate())
		})
	}
}

func TestMetricsMayBeReadFromOtherMachines(t *testing.T) {
	t.Parallel()
	cfg := config.Default("/h")
	cfg.Metrics.Listen = ":9090"
	require.NoError(t, cfg.Validate())
}

func TestVariablesThatKubernetesAddsAreIgnored(t *testing.T) {
	t.Parallel()
	cfg, err := load("", "HOLDFAST_SERVICE_HOST=10.0.0.1", "HOLDFAST_SERVICE_PORT=80", "HOLDFAST_API_SERVICE_PORT_HTTP=80",
		"HOLDFAST_PORT=tcp://10.0.0.1:80", "HOLDFAST_PORT_80_TCP=tcp://10.0.0.1:80", "HOLDFAST_PORT_80_TCP_PROTO=tcp",
		"HOLDFAST_PORT_80_TCP_ADDR=10.0.0.1", "HOLDFAST_TEMPORAL_PORT=tcp://10.0.0.2:7233")
	require.NoError(t, err)
	require.Equal(t, config.Default("/h"), cfg)
	_, err = load("", "HOLDFAST_UI_PORT=80")
	require.ErrorContains(t, err, "HOLDFAST_TEMPORAL_UI_PORT")
}

func TestAFileTooLargeIsRefused(t *testing.T) {
	t.Parallel()
	_, err := load(strings.Repeat("# x\n", 300_000))
	require.EqualError(t, err, "config: is larger than 1 MB")
}

func FuzzLoadGivesAValidConfigOrAnError(f *testing.F) {
	f.Add(string(config.Example()), "HOLDFAST_AGENT_MAX_TOKENS=1")
	f.Add("providers: {a.B: &x {timeout: 1d, headers: {A: b}}, c: *x}\nmodel: ${A:-b}", "A=c")
	f.Add("? [a]\n: b\n<<: {model: x}\n", "HOLDFAST_PROVIDERS_A_B_KIND=x")
	f.Add("fallbacks: [*x, &x a]", "HOLDFAST_=")
	f.Fuzz(func(t *testing.T, yaml, variable string) {
		cfg, err := load(yaml, variable)
		if err == nil {
			require.NoError(t, cfg.Validate())
		}
	})
}
