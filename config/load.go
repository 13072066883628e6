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
	"strings"
	"time"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/viper"
)

// prefix is that of all our environment variables.
const prefix = "HOLDFAST_"

// sizeLimit bounds a config file, in bytes.
const sizeLimit = 1 << 20

// Options say where settings come from besides the file.
type Options struct {
	Home    string   // absolute; empty: [HomeDir] of Environ
	Environ []string // in the form of [os.Environ]
	// Providers has the names of the known providers, each with the environment
	// variable that its key usually is in, or "".
	Providers map[string]string
}

// LoadFile reads the config file at path, or, if path is empty, the one that
// [FilePath] gives; that one may be missing unless it was named. Errors are those
// of [Load], and those of opening and reading the file.
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

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, sizeLimit+1))
}

// Load reads YAML from r, which may be empty, and puts the environment over it:
// each value may also come from the variable named HOLDFAST_ and its path in upper
// case with "_" between the parts; an empty variable counts as not set. Where
// neither says anything, providers' own variables, then defaults, apply. In the
// file, ${NAME} and ${NAME:-default} stand for environment variables.
//
// The error joins all problems found, each one line that starts with where it is.
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

// loader gathers the settings of one load and what is wrong with them.
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
	file, err := l.read(bytes.NewReader(data))
	if err != nil {
		return Config{}, err
	}
	v := viper.NewWithOptions(viper.KeyDelimiter(delimiter))
	if err := v.MergeConfigMap(file); err != nil {
		return Config{}, fmt.Errorf("%s: %w", name, err)
	}
	for _, s := range l.environment(file, opts.Providers) {
		v.Set(s.key, s.value)
	}
	cfg, err := decode(v, file, opts)
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", name, err)
	}
	cfg.applyKeys(l.env, opts.Providers)
	if cfg.Workspace != "" {
		cfg.Workspace = resolve(cfg.Workspace, opts.Home, l.env)
	} else {
		cfg.Workspace = Default(opts.Home).Workspace
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

// delimiter separates the keys of a path in viper. No key has it: those that a
// user chooses are masked.
const delimiter = "/"

func decode(v *viper.Viper, file map[string]any, opts Options) (Config, error) {
	base := DefaultProvider()
	mentioned, _ := file["providers"].(map[string]any)
	set, _ := v.Get("providers").(map[string]any)
	for _, providers := range []map[string]any{mentioned, set} {
		for name := range providers {
			v.SetDefault(strings.Join([]string{"providers", name, "timeout"}, delimiter), base.Timeout)
		}
	}
	// viper drops a mapping with nothing in it, and with it what is wrong with that.
	tools, _ := file["tools"].(map[string]any)
	mcp, _ := tools["mcp"].(map[string]any)
	servers, _ := mcp["servers"].(map[string]any)
	for name := range servers {
		v.SetDefault(strings.Join([]string{"tools", "mcp", "servers", name, "timeout"}, delimiter), time.Duration(0))
	}
	cfg := Default(opts.Home)
	err := v.UnmarshalExact(&cfg, func(c *mapstructure.DecoderConfig) {
		c.TagName = "yaml"
		c.WeaklyTypedInput = false
		c.DecodeHook = unmaskKeys
	})
	return cfg, err
}

func unmaskKeys(_, to reflect.Type, data any) (any, error) {
	m, ok := data.(map[string]any)
	if !ok || to.Kind() != reflect.Map {
		return data, nil
	}
	unmasked := make(map[string]any, len(m))
	for key, value := range m {
		unmasked[unmask(key)] = value
	}
	return unmasked, nil
}

// applyKeys fills in the keys that are in variables which other programs use too.
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
	slack := &c.Channels.Slack
	for variable, key := range map[string]*Secret{
		"BRAVE_API_KEY": &web.Brave.APIKey, "TAVILY_API_KEY": &web.Tavily.APIKey,
		"SLACK_BOT_TOKEN": &slack.BotToken, "SLACK_APP_TOKEN": &slack.AppToken, "SLACK_SIGNING_SECRET": &slack.SigningSecret,
	} {
		if *key == "" {
			*key = Secret(env[variable])
		}
	}
	if web.SearXNG.BaseURL == "" {
		web.SearXNG.BaseURL = env["SEARXNG_BASE_URL"]
	}
}

// problem is something wrong with the value at a path.
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
