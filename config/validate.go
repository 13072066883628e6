package config

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Validate returns the joined problems of the settings, or nil. [Load] calls it.
func (c Config) Validate() error {
	var problems []error
	for _, p := range c.check() {
		problems = append(problems, p)
	}
	return errors.Join(problems...)
}

// checker collects problems; its methods are the rules.
type checker struct{ problems []problem }

func (c Config) check() []problem {
	k := &checker{}
	k.models(c)
	for _, name := range slices.Sorted(maps.Keys(c.Providers)) {
		k.provider(path{"providers", name}, name, c.Providers[name])
	}
	k.agent(c.Agent)
	k.oneOf("memory.scope", c.Memory.Scope, MemoryAuto, MemoryWorkspace, MemoryChannel, MemorySender)
	for _, name := range slices.Sorted(maps.Keys(c.Prices)) {
		p := c.Prices[name]
		k.when(p.Input < 0 || p.Cached < 0 || p.Output < 0, path{"prices", name}.String(), "must not be negative")
	}
	k.temporal(c.Temporal)
	k.worker(c.Worker)
	k.when(c.Worker.Deployment != "" && c.Temporal.Address == "", "worker.deployment", "needs a cluster (temporal.address): the embedded engine is upgraded with its worker")
	k.oneOf("engine.durability", c.Engine.Durability, DurabilityFull, DurabilityNormal)
	k.when(c.Engine.Retention < time.Hour, "engine.retention", "must be at least 1h, not %s", c.Engine.Retention)
	dsn := c.Store.DSN.Reveal()
	k.when(dsn != "" && !strings.HasPrefix(dsn, "postgres://") && !strings.HasPrefix(dsn, "postgresql://"),
		"store.dsn", "must begin with postgres://, or be empty for SQLite in the home directory")
	retention := c.Store.Retention
	k.when(retention != 0 && retention < day, "store.retention", "must be at least 1d, or 0 to keep all, not %s", retention)
	k.tools(c.Tools)
	k.approvals(c.Approvals)
	k.chats(c.Channels.Chats)
	k.http(c.Channels.HTTP)
	for _, platform := range c.Channels.platforms() {
		platform.check(k)
	}
	k.jobs(c.Jobs, c.Heartbeat)
	if c.Metrics.Listen != "" {
		k.hostPort("metrics.listen", c.Metrics.Listen, "127.0.0.1:9090, or empty to disable it")
	}
	k.oneOf("log.level", c.Log.Level, "debug", "info", "warn", "error")
	k.oneOf("log.format", c.Log.Format, LogAuto, LogText, LogJSON)
	return k.problems
}

func (k *checker) when(wrong bool, path, format string, args ...any) {
	if wrong {
		k.problems = append(k.problems, problem{path, fmt.Sprintf(format, args...)})
	}
}

func (k *checker) oneOf(path, value string, allowed ...string) {
	k.when(!slices.Contains(allowed, value), path, "must be one of %s, not %q", strings.Join(allowed, ", "), value)
}

func (k *checker) atLeastOne(path string, value int) {
	k.when(value < 1, path, "must be at least 1, not %d", value)
}

func (k *checker) models(c Config) {
	k.when(strings.ContainsAny(c.Model, spaces), "model", "must not contain spaces: provider/model, such as openai/gpt-4.1")
	for _, model := range c.Fallbacks {
		k.when(model == "" || strings.ContainsAny(model, spaces), "fallbacks", "must be models such as openai/gpt-4.1, not %q", model)
	}
}

const spaces = " \t\r\n"

func (k *checker) provider(at path, name string, p Provider) {
	k.when(name == "" || strings.ContainsAny(name, spaces+"/"), at.String(), "must have a name without spaces and slashes, for use in provider/model")
	k.url(at.to("base_url").String(), p.BaseURL)
	k.when(strings.ContainsAny(p.APIKey.Reveal(), spaces), at.to("api_key").String(), "must not contain spaces or line breaks")
	k.when(p.Timeout <= 0, at.to("timeout").String(), "must be above 0, not %s", p.Timeout)
	for _, header := range slices.Sorted(maps.Keys(p.Headers)) {
		broken := header == "" || strings.ContainsAny(header, spaces+":") || strings.ContainsAny(p.Headers[header].Reveal(), "\r\n")
		k.when(broken, at.to("headers").to(header).String(), "must be an HTTP header, on one line")
	}
}

func (k *checker) agent(a Agent) {
	k.atLeastOne("agent.max_iterations", a.MaxIterations)
	k.when(a.SubagentDepth < 1 || a.SubagentDepth > 3, "agent.subagent_depth", "must be from 1 to 3, not %d", a.SubagentDepth)
	k.atLeastOne("agent.subagent_max_iterations", a.SubagentMaxIterations)
	k.atLeastOne("agent.memory_window", a.MemoryWindow)
	k.atLeastOne("agent.max_tokens", a.MaxTokens)
	k.when(!(a.Temperature >= 0 && a.Temperature <= 2), "agent.temperature", "must be from 0 to 2, not %g", a.Temperature)
	k.oneOf("agent.mid_turn", a.MidTurn, MidTurnSteer, MidTurnQueue)
}

func (k *checker) temporal(t Temporal) {
	if t.Address != "" {
		k.hostPort("temporal.address", t.Address, "temporal.example.com:7233")
	}
	k.when(t.Namespace == "", "temporal.namespace", "must not be empty; Temporal's default is \"default\"")
	k.when(t.Prefix != "" && !prefixName.MatchString(t.Prefix), "temporal.prefix", "must be of letters, digits, -, _ and ., not %q", t.Prefix)
	k.when((t.TLS.Cert == "") != (t.TLS.Key == ""), "temporal.tls", "must have both cert and key, or neither")
	k.port("temporal.port", t.Port)
	k.port("temporal.ui_port", t.UIPort)
	k.when(t.Port != 0 && t.Port == t.UIPort, "temporal.ui_port", "must differ from temporal.port, which is also %d", t.Port)
}

// prefixName matches what is safe in the names and the queries of Temporal.
var prefixName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,50}$`)

func (k *checker) worker(w Worker) {
	k.atLeastOne("worker.model_calls", w.ModelCalls)
	k.atLeastOne("worker.tool_calls", w.ToolCalls)
	k.atLeastOne("worker.deliveries", w.Deliveries)
	k.atLeastOne("worker.control", w.Control)
	k.when(w.Deployment != "" && !prefixName.MatchString(w.Deployment), "worker.deployment", "must be of letters, digits, -, _ and ., not %q", w.Deployment)
	k.when(w.BuildID != "" && !prefixName.MatchString(w.BuildID), "worker.build_id", "must be of letters, digits, -, _ and ., not %q", w.BuildID)
	k.when(w.Drain < 0 || w.Drain > time.Hour, "worker.drain", "must be from 0s to 1h, not %s", w.Drain)
}

func (k *checker) port(path string, port int) {
	k.when(port < 0 || port > 65535, path, "must be a port from 1 to 65535, or 0 for any, not %d", port)
}

func (k *checker) tools(t Tools) {
	k.when(t.Exec.Timeout <= 0, "tools.exec.timeout", "must be above 0, not %s", t.Exec.Timeout)
	k.when(t.Exec.MaxTimeout < t.Exec.Timeout, "tools.exec.max_timeout", "must be at least tools.exec.timeout, which is %s, not %s", t.Exec.Timeout, t.Exec.MaxTimeout)
	k.when(t.Exec.SessionLifetime <= 0, "tools.exec.session_lifetime", "must be above 0, not %s", t.Exec.SessionLifetime)
	for _, name := range slices.Sorted(maps.Keys(t.MCP.Servers)) {
		at := path{"tools", "mcp", "servers", name}.String()
		k.when(!serverName.MatchString(name), at, "must have a name of letters, digits, - and _, since it prefixes tool names")
		k.mcp(at, t.MCP.Servers[name])
	}
	k.transcription(t.Transcription)
	web := t.Web
	k.oneOf("tools.web.search", web.Search, SearchAuto, SearchBrave, SearchTavily, SearchSearXNG, SearchDuckDuckGo, SearchOff)
	k.url("tools.web.brave.base_url", web.Brave.BaseURL)
	k.url("tools.web.tavily.base_url", web.Tavily.BaseURL)
	k.url("tools.web.searxng.base_url", web.SearXNG.BaseURL)
	k.url("tools.web.duckduckgo.base_url", web.DuckDuckGo.BaseURL)
	k.when(web.Search == SearchBrave && web.Brave.APIKey == "", "tools.web.brave.api_key", "must be set for tools.web.search: brave, here or as BRAVE_API_KEY")
	k.when(web.Search == SearchTavily && web.Tavily.APIKey == "", "tools.web.tavily.api_key", "must be set for tools.web.search: tavily, here or as TAVILY_API_KEY")
	k.when(web.Search == SearchSearXNG && web.SearXNG.BaseURL == "", "tools.web.searxng.base_url", "must be set for tools.web.search: searxng")
}

func (k *checker) transcription(t Transcription) {
	k.url("tools.transcription.base_url", t.BaseURL)
	if !t.Enabled {
		return
	}
	k.when(t.BaseURL == "", "tools.transcription.base_url", "must be set, such as %s", groqURL)
	k.when(t.Model == "", "tools.transcription.model", "must be set, such as whisper-large-v3")
	k.when(t.APIKey == "" && t.BaseURL == groqURL, "tools.transcription.api_key", "must be set for Groq, here or as GROQ_API_KEY")
}

// serverName matches what providers accept in tool names.
var serverName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func (k *checker) mcp(at string, s MCPServer) {
	k.when((s.Command == "") == (s.URL == ""), at, "must have either command or url")
	k.when(s.Command == "" && (len(s.Args) > 0 || len(s.Env) > 0 || s.Dir != ""), at, "has a url: args, env and dir belong to a command")
	k.when(s.URL == "" && len(s.Headers) > 0, at, "has a command: headers belong to a url")
	k.when(s.Timeout < 0, at+".timeout", "must not be negative")
	k.url(at+".url", s.URL)
}

func (k *checker) http(h HTTP) {
	if !h.Enabled {
		return
	}
	host, valid := k.hostPort("channels.http.listen", h.Listen, "127.0.0.1:8090")
	k.when(valid && !loopback(host) && h.Token == "", "channels.http.listen",
		"%s is reachable from other machines; set channels.http.token too, or listen on 127.0.0.1", h.Listen)
}

// url checks a URL, which may be empty. The error does not contain it, since it may have
// a password.
func (k *checker) url(path, value string) {
	if value == "" {
		return
	}
	u, err := url.Parse(value)
	wrong := err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.Fragment != ""
	k.when(wrong, path, "must be a URL such as https://api.example.com/v1")
}

// hostPort checks an address and returns its host.
func (k *checker) hostPort(path, address, example string) (host string, valid bool) {
	host, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	k.when(err != nil, path, "must be host:port, such as %s, not %q", example, address)
	return host, err == nil
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
}
