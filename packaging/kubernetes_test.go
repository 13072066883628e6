// Package packaging tests the files with which Holdfast is deployed.
package packaging

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/llm"
)

// manifests are the objects of packaging/kubernetes by kind and name.
func manifests(t *testing.T) map[string]any {
	t.Helper()
	files, err := filepath.Glob("kubernetes/*.yaml")
	require.NoError(t, err)
	found := map[string]any{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		for document := range bytes.SplitSeq(data, []byte("\n---\n")) {
			var kind struct {
				meta.TypeMeta   `json:",inline"`
				meta.ObjectMeta `json:"metadata"`
			}
			require.NoError(t, yaml.Unmarshal(document, &kind), file)
			object := map[string]any{
				"v1 ConfigMap": &core.ConfigMap{}, "v1 Service": &core.Service{}, "v1 PersistentVolumeClaim": &core.PersistentVolumeClaim{},
				"apps/v1 Deployment": &apps.Deployment{}, "apps/v1 StatefulSet": &apps.StatefulSet{}, "batch/v1 Job": &batch.Job{},
				"policy/v1 PodDisruptionBudget":          &policy.PodDisruptionBudget{},
				"autoscaling/v2 HorizontalPodAutoscaler": &autoscaling.HorizontalPodAutoscaler{},
			}[kind.APIVersion+" "+kind.Kind]
			require.NotNil(t, object, "%s: %s %s", file, kind.APIVersion, kind.Kind)
			require.NoError(t, yaml.UnmarshalStrict(document, object), "%s: %s", file, kind.Name)
			found[kind.Kind+"/"+kind.Name] = object
		}
	}
	return found
}

func TestKubernetes(t *testing.T) {
	t.Parallel()
	objects := manifests(t)
	workers := objects["StatefulSet/holdfast-worker"].(*apps.StatefulSet)
	starters := objects["Deployment/holdfast-starter"].(*apps.Deployment)
	migrate := objects["Job/holdfast-migrate"].(*batch.Job)
	settings := objects["ConfigMap/holdfast"].(*core.ConfigMap).Data

	t.Run("selectors match", func(t *testing.T) {
		t.Parallel()
		for name, labels := range map[string]map[string]string{
			"holdfast-worker": workers.Spec.Template.Labels, "holdfast-starter": starters.Spec.Template.Labels,
		} {
			require.Equal(t, labels, objects["PodDisruptionBudget/"+name].(*policy.PodDisruptionBudget).Spec.Selector.MatchLabels)
		}
		require.Equal(t, workers.Spec.Template.Labels, workers.Spec.Selector.MatchLabels)
		require.Equal(t, starters.Spec.Template.Labels, starters.Spec.Selector.MatchLabels)
		require.Equal(t, starters.Spec.Template.Labels, objects["Service/holdfast"].(*core.Service).Spec.Selector)
		require.Equal(t, workers.Spec.Template.Labels, objects["Service/holdfast-worker"].(*core.Service).Spec.Selector)
		scaled := objects["HorizontalPodAutoscaler/holdfast-worker"].(*autoscaling.HorizontalPodAutoscaler).Spec
		require.Equal(t, "StatefulSet/"+workers.Name, scaled.ScaleTargetRef.Kind+"/"+scaled.ScaleTargetRef.Name)
		require.Equal(t, "holdfast_messages_waiting", scaled.Metrics[0].External.Metric.Name)
	})

	for name, pod := range map[string]core.PodSpec{"worker": workers.Spec.Template.Spec, "starter": starters.Spec.Template.Spec, "migrate": migrate.Spec.Template.Spec} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			container := pod.Containers[0]
			require.Equal(t, []string{name}, container.Args)
			require.True(t, *pod.SecurityContext.RunAsNonRoot)
			if name != "migrate" {
				ports := map[string]bool{}
				for _, port := range container.Ports {
					ports[port.Name] = true
				}
				for _, probe := range []*core.Probe{container.StartupProbe, container.LivenessProbe, container.ReadinessProbe} {
					require.True(t, ports[probe.HTTPGet.Port.String()])
				}
			}
			mounted := map[string]bool{}
			for _, volume := range pod.Volumes {
				mounted[volume.Name] = true
			}
			for _, mount := range container.VolumeMounts {
				require.True(t, mounted[mount.Name] || name == "worker" && mount.Name == "home", mount.Name)
			}
			require.Equal(t, name != "worker", mounted["secrets"], "the agent's commands could read them")
			cfg := load(t, settings, container.Env)
			require.Equal(t, "postgres://u:p@db/holdfast", cfg.StoreDSN())
			require.Equal(t, "temporal-frontend.temporal:7233", cfg.Temporal.Address)
			require.Equal(t, "value-of-openai-api-key", cfg.Providers["openai"].APIKey.Reveal())
			if name == "worker" {
				require.Greater(t, *pod.TerminationGracePeriodSeconds, int64(cfg.Worker.Drain.Seconds()))
			}
		})
	}
}

// load loads the config of a container.
func load(t *testing.T, settings map[string]string, own []core.EnvVar) config.Config {
	t.Helper()
	for _, variable := range own {
		value := variable.Value
		if from := variable.ValueFrom; from != nil {
			require.Equal(t, "holdfast", from.SecretKeyRef.Name)
			value = secret(from.SecretKeyRef.Key)
		}
		settings = merged(settings, variable.Name, value)
	}
	environ := []string{"HOME=/home/holdfast"}
	for name, value := range settings {
		if strings.HasSuffix(name, "_FILE") {
			key, mounted := strings.CutPrefix(value, "/run/secrets/holdfast/")
			require.True(t, mounted, name)
			value = filepath.Join(t.TempDir(), key)
			require.NoError(t, os.WriteFile(value, []byte(secret(key)), 0o600))
		}
		environ = append(environ, name+"="+value)
	}
	slices.Sort(environ)
	cfg, err := config.Load(strings.NewReader(""), config.Options{Environ: environ, Providers: llm.KeyVariables()})
	require.NoError(t, err)
	return cfg
}

// secret is the value of a key of the Secret.
func secret(key string) string {
	if key == "store-dsn" {
		return "postgres://u:p@db/holdfast"
	}
	return "value-of-" + key
}

func merged(settings map[string]string, name, value string) map[string]string {
	all := map[string]string{name: value}
	for n, v := range settings {
		if n != name {
			all[n] = v
		}
	}
	return all
}
