package packaging

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// composed is what the test reads of docker-compose.yml.
type composed struct {
	Services map[string]struct {
		Command     []string       `json:"command"`
		Environment map[string]any `json:"environment"`
		Secrets     []string       `json:"secrets"`
		Volumes     []string       `json:"volumes"`
		Healthcheck *struct {
			Test []string `json:"test"`
		} `json:"healthcheck"`
	} `json:"services"`
	Secrets map[string]struct {
		File string `json:"file"`
	} `json:"secrets"`
	Volumes map[string]any `json:"volumes"`
}

func TestCompose(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../docker-compose.yml")
	require.NoError(t, err)
	var c composed
	require.NoError(t, yaml.Unmarshal(data, &c))
	homes := map[string]bool{}
	for name, path := range map[string]string{
		"worker-1": "9090/readyz", "worker-2": "9090/readyz", "starter-1": "8090/readyz", "starter-2": "8090/readyz",
	} {
		service := c.Services[name]
		require.Equal(t, []string{name[:len(name)-2]}, service.Command)
		require.Contains(t, service.Healthcheck.Test[3], path)
		for setting, value := range service.Environment {
			if strings.HasSuffix(setting, "_FILE") {
				secret := strings.TrimPrefix(value.(string), "/run/secrets/")
				require.Contains(t, service.Secrets, secret)
				require.Equal(t, "./secrets/"+secret, c.Secrets[secret].File)
			}
		}
		for _, volume := range service.Volumes {
			source, _, _ := strings.Cut(volume, ":")
			require.Contains(t, c.Volumes, source)
		}
		homes[service.Volumes[0]] = true
		require.Equal(t, strings.HasPrefix(name, "worker"), len(service.Secrets) == 0, "the agent's commands could read them")
	}
	require.Len(t, homes, 4, "two processes on one home would be one place")
}
