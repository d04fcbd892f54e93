package charttest

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
)

// loadCompose reads a compose file as the command does: against the schema, with its variables and anchors resolved.
func loadCompose(t *testing.T, name string) *types.Project {
	t.Helper()
	path, err := filepath.Abs("../" + name)
	if err != nil {
		t.Fatal(err)
	}
	project, err := loader.LoadWithContext(context.Background(), types.ConfigDetails{
		WorkingDir:  filepath.Dir(path),
		ConfigFiles: []types.ConfigFile{{Filename: path}},
		Environment: types.Mapping{"REPRISE_ADMIN_TOKEN": "a-token-of-the-operator"},
	}, func(o *loader.Options) { o.SetProjectName("reprise", true) })
	if err != nil {
		t.Fatal(err)
	}
	return project
}

var composeFiles = []string{"compose.yaml", "compose.replicas.yaml"}

// TestComposeIsHardened: every service can write its volumes alone, gets no rights, has a limit and a check, and an image that does not change.
func TestComposeIsHardened(t *testing.T) {
	for _, file := range composeFiles {
		project := loadCompose(t, file)
		for name, s := range project.Services {
			switch {
			case !s.ReadOnly, !slices.Equal(s.CapDrop, []string{"ALL"}), !slices.Equal(s.SecurityOpt, []string{"no-new-privileges:true"}), s.Privileged, len(s.CapAdd) > 0:
				t.Errorf("%s: %s is not hardened", file, name)
			case s.HealthCheck == nil || len(s.HealthCheck.Test) < 2 || s.MemLimit == 0:
				t.Errorf("%s: %s has no check of its health, or no memory limit", file, name)
			case s.Build == nil && (!strings.Contains(s.Image, ":") || strings.HasSuffix(s.Image, ":latest")):
				t.Errorf("%s: %s has the image %q", file, name, s.Image)
			}
			delay, _ := time.ParseDuration(*cmp.Or(s.Environment["REPRISE_DRAIN_DELAY"], new("0s")))
			if s.Build != nil && (s.StopGracePeriod == nil || time.Duration(*s.StopGracePeriod) <= delay+90*time.Second) {
				t.Errorf("%s: %s is killed after %v, before it has drained", file, name, s.StopGracePeriod)
			}
			for _, p := range s.Ports {
				if p.HostIP != "127.0.0.1" {
					t.Errorf("%s: %s opens port %s to %q", file, name, p.Published, p.HostIP)
				}
			}
			for _, v := range s.Volumes {
				if v.Type == types.VolumeTypeBind {
					if _, err := os.Stat(v.Source); err != nil || !v.ReadOnly {
						t.Errorf("%s: %s mounts %s: %v, read-only %v", file, name, v.Source, err, v.ReadOnly)
					}
				}
			}
		}
	}
}

// TestComposeKeepsRedisPrivate: nothing but the proxies can reach Redis, and no secret is in the environment or in an argument.
func TestComposeKeepsRedisPrivate(t *testing.T) {
	project := loadCompose(t, "compose.replicas.yaml")
	redis := project.Services["redis"]
	if len(redis.Ports) > 0 || len(redis.Networks) != 1 || !project.Networks["cache"].Internal {
		t.Errorf("Redis has the ports %v and the networks %v", redis.Ports, redis.NetworksByPriority())
	}
	for name, s := range project.Services {
		_, near := s.Networks["cache"]
		if proxy := strings.HasPrefix(name, "proxy-"); near != (proxy || name == "redis") {
			t.Errorf("%s is in the network of Redis: %v", name, near)
		}
		for setting, value := range s.Environment {
			if secretName.MatchString(setting) && value != nil && *value != "" {
				t.Errorf("%s has %s in plain", name, setting)
			}
		}
		for _, secret := range s.Secrets {
			if _, ok := project.Secrets[secret.Source]; !ok {
				t.Errorf("%s: there is no secret %s", name, secret.Source)
			}
		}
	}
	command := strings.Join(redis.Command, " ")
	for _, want := range []string{"--maxmemory-policy noeviction", "--appendonly yes", "--maxmemory 1536mb"} {
		if !strings.Contains(command, want) {
			t.Errorf("Redis starts without %s", want)
		}
	}
}

// TestComposeStarts runs the proxy with the settings of the compose files.
func TestComposeStarts(t *testing.T) {
	for _, file := range composeFiles {
		for name, s := range loadCompose(t, file).Services {
			if s.Build == nil || name == "proxy-b" {
				continue
			}
			t.Run(file, func(t *testing.T) {
				var files []string
				for _, secret := range s.Secrets {
					files = append(files, "/run/secrets/"+secret.Source)
				}
				settings := map[string]string{"REPRISE_LISTEN": "0.0.0.0:8080"} // of the Dockerfile, as is the store in a file
				for setting, value := range s.Environment {
					settings[setting] = *value
				}
				if settings["REPRISE_STORE"] == "" {
					settings["REPRISE_STORE"] = "file:/data/reprise.db"
				}
				starts(t, []string{"serve"}, settings, files, func(admin string) { probed(t, admin+"/readyz") })
			})
		}
	}
}
