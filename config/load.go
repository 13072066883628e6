package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"syscall"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/viper"
)

// prefix starts the names of Holdfast's environment variables.
const prefix = "HOLDFAST_"

// sizeLimit bounds a config file, in bytes.
const sizeLimit = 1 << 20

// Options are the sources of settings besides the file.
type Options struct {
	Home    string   // absolute; empty: [HomeDir] of Environ
	Environ []string // in the form of [os.Environ]
	// Providers are the known providers by name, each with the environment variable
	// that usually holds its API key, or "".
	Providers map[string]string
}

// LoadFile loads the config file at path or, if path is empty, at [FilePath], which
// may be missing unless HOLDFAST_CONFIG names it. See [Load].
func LoadFile(path string, opts Options) (Config, error) {
	home, err := opts.home()
	if err != nil {
		return Config{}, err
	}
	opts.Home = home
	named := path != ""
	if !named {
		path, named = FilePath(home, opts.Environ)
	}
	data, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) && !named {
		err = nil
	}
	if err != nil {
		return Config{}, fmt.Errorf("config: %w", err)
	}
	return load(data, path, opts)
}

// readFile reads a regular file, or nothing from [os.DevNull]. Others, such as a FIFO,
// could block for ever.
func readFile(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() && path != os.DevNull {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	return io.ReadAll(io.LimitReader(f, sizeLimit+1))
}

// Load reads YAML from r, which may be empty. In order of precedence, a setting comes
// from
//
//  1. the environment variable HOLDFAST_ and its path, in upper case with "_" between
//     the parts, unless it is empty
//  2. the file, in which ${NAME} and ${NAME:-default} refer to environment variables
//  3. the usual variable of a provider or service, such as OPENAI_API_KEY
//  4. [Default]
//
// A variable NAME_FILE names a file with the value of NAME, if that is empty and a setting or
// a secret.
//
// The error joins all problems, one line each, which starts with the position.
func Load(r io.Reader, opts Options) (Config, error) {
	home, err := opts.home()
	if err != nil {
		return Config{}, err
	}
	opts.Home = home
	data, err := io.ReadAll(io.LimitReader(r, sizeLimit+1))
	if err != nil {
		return Config{}, fmt.Errorf("config: %w", err)
	}
	return load(data, "config", opts)
}

func (o Options) home() (string, error) {
	if o.Home == "" {
		return HomeDir(o.Environ)
	}
	home, err := filepath.Abs(o.Home)
	if err != nil {
		return "", fmt.Errorf("home: %w", err)
	}
	return home, nil
}

// loader collects the settings of one load and their problems.
type loader struct {
	name     string // of the file
	env      map[string]string
	schema   *schema
	origins  map[string]string // where the value at a path was set
	wrong    map[string]bool   // paths that have a problem
	problems []error
}

func load(data []byte, name string, opts Options) (Config, error) {
	if len(data) > sizeLimit {
		return Config{}, fmt.Errorf("%s: is larger than 1 MB", name)
	}
	l := &loader{
		name: name, env: lookup(opts.Environ),
		schema: describe(reflect.TypeFor[Config]()), origins: map[string]string{}, wrong: map[string]bool{},
	}
	l.readFiles()
	file, err := l.read(bytes.NewReader(data))
	if err != nil {
		return Config{}, err
	}
	v := viper.New()
	for _, s := range l.environment(file, opts.Providers) {
		if s.named {
			file = put(file, s.path, s.value)
		} else {
			v.Set(s.path.String(), s.value)
		}
	}
	cfg, err := decode(v, file, opts.Home)
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", name, err)
	}
	cfg.applyKeys(l.env, opts.Providers)
	if cfg.Workspace != "" {
		cfg.Workspace = resolve(cfg.Workspace, opts.Home, l.env)
	} else {
		cfg.Workspace = Default(opts.Home).Workspace
	}
	for name, server := range cfg.Tools.MCP.Servers {
		if server.Dir != "" {
			server.Dir = resolve(server.Dir, opts.Home, l.env)
			cfg.Tools.MCP.Servers[name] = server
		}
	}
	for _, p := range cfg.check() {
		if !l.wrong[p.path] {
			l.problem(l.origins[p.path], p)
		}
	}
	if len(l.problems) > 0 {
		return Config{}, errors.Join(l.problems...)
	}
	return cfg, nil
}

// decode puts the file under the environment, which v has already, and both over
// the defaults. viper merges all settings with fixed keys. It is not given the maps
// whose keys users choose, since it would change those keys to lower case and split
// them at dots.
func decode(v *viper.Viper, file map[string]any, home string) (Config, error) {
	cfg := Default(home)
	prices, providers, servers := cut(file, "prices"), cut(file, "providers"), cut(file, "tools", "mcp", "servers")
	endpoints := cut(file, "channels", "webhook", "endpoints")
	if err := v.MergeConfigMap(file); err != nil {
		return Config{}, err
	}
	return cfg, errors.Join(
		v.UnmarshalExact(&cfg, exact),
		decodeEach(prices, Price{}, cfg.Prices),
		decodeEach(providers, DefaultProvider(), cfg.Providers),
		decodeEach(servers, MCPServer{}, cfg.Tools.MCP.Servers),
		decodeEach(endpoints, WebhookEndpoint{}, cfg.Channels.Webhook.Endpoints),
	)
}

// exact sets how trees are decoded: [loader.read] has converted all values.
func exact(c *mapstructure.DecoderConfig) {
	c.TagName, c.WeaklyTypedInput, c.ErrorUnused = "yaml", false, true
}

// decodeEach decodes each entry of tree over a copy of base.
func decodeEach[T any](tree map[string]any, base T, to map[string]T) error {
	for name, entry := range tree {
		value := base
		options := &mapstructure.DecoderConfig{Result: &value}
		exact(options)
		decoder, err := mapstructure.NewDecoder(options)
		if err != nil {
			return err
		}
		if err := decoder.Decode(entry); err != nil {
			return err
		}
		to[name] = value
	}
	return nil
}

// cut removes the map at a path from tree and returns it.
func cut(tree map[string]any, keys ...string) map[string]any {
	last := len(keys) - 1
	for _, key := range keys[:last] {
		tree, _ = tree[key].(map[string]any)
	}
	found, _ := tree[keys[last]].(map[string]any)
	delete(tree, keys[last])
	return found
}

// put sets the value at a path of tree, which may be nil, and returns the tree.
func put(tree map[string]any, at path, value any) map[string]any {
	if tree == nil {
		tree = map[string]any{}
	}
	if len(at) == 1 {
		tree[at[0]] = value
		return tree
	}
	below, _ := tree[at[0]].(map[string]any)
	tree[at[0]] = put(below, at[1:], value)
	return tree
}

// applyKeys fills in missing keys from variables that other programs use too.
func (c *Config) applyKeys(env, providers map[string]string) {
	for name, variable := range providers {
		key := env[variable]
		p := c.Provider(name)
		if variable == "" || key == "" || p.APIKey != "" {
			continue
		}
		p.APIKey = Secret(key)
		c.Providers[name] = p
	}
	web := &c.Tools.Web
	fill(&web.Brave.APIKey, env["BRAVE_API_KEY"])
	fill(&web.Tavily.APIKey, env["TAVILY_API_KEY"])
	fill(&web.SearXNG.BaseURL, env["SEARXNG_BASE_URL"])
	if c.Tools.Transcription.BaseURL == groqURL {
		fill(&c.Tools.Transcription.APIKey, env["GROQ_API_KEY"])
	}
	for _, platform := range c.Channels.platforms() {
		platform.fillFrom(env)
	}
}

// problem is an invalid value at a path.
type problem struct {
	path string
	text string
}

func (p problem) Error() string { return p.path + ": " + p.text }

func (l *loader) problem(where string, p problem) {
	if where == "" {
		where = l.name
	}
	l.wrong[p.path] = true
	l.problems = append(l.problems, fmt.Errorf("%s: %w", where, p))
}
