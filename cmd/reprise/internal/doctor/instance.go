package doctor

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"reprise/cmd/reprise/internal/config"
)

// instance is a proxy that runs with the address of the settings, or none.
type instance struct {
	address string
	running bool // what answers there is a proxy of this program
	status  int
	text    string             // what it says of its readiness
	err     error              // why nothing answers
	metrics map[string]float64 // without labels, by name; nil: it has none yet
}

// askLimit bounds both questions to an instance together.
const askLimit = 4 * time.Second

// findInstance asks what listens at the address of the admin side.
func findInstance(listen string) *instance {
	ctx, cancel := context.WithTimeout(context.Background(), askLimit)
	defer cancel()
	i := &instance{address: config.Local(listen)}
	if strings.HasSuffix(listen, ":0") {
		return i
	}
	if i.status, i.text, i.err = get(ctx, "http://"+i.address+"/readyz"); i.err != nil {
		return i
	}
	word, _, _ := strings.Cut(strings.TrimSpace(i.text), "\n")
	word, _, _ = strings.Cut(word, ":")
	if i.running = slices.Contains([]string{"ready", "draining", "starting"}, word); !i.running {
		return i
	}
	if status, text, err := get(ctx, "http://"+i.address+"/metrics"); err == nil && status == http.StatusOK {
		i.metrics = readMetrics(text)
	}
	return i
}

// missing says why an instance cannot be asked.
func (i *instance) missing() string {
	if !i.running {
		return "no instance runs at " + i.address
	}
	return "the instance at " + i.address + " shows no metrics yet"
}

func get(ctx context.Context, url string) (status int, text string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	resp, err := client.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 16<<20))
	return resp.StatusCode, string(b), err
}

// readMetrics reads the text form of metrics, those without labels.
func readMetrics(text string) map[string]float64 {
	all := map[string]float64{}
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if f, err := strconv.ParseFloat(value, 64); err == nil {
			all[name] = f
		}
	}
	return all
}

// running plans the check of the running instance.
func (x *exam) running(values *check) {
	x.plan.add("instance.ready", func(context.Context) finding {
		i := x.instance()
		said := strings.Join(strings.Fields(strings.ReplaceAll(strings.TrimSpace(i.text), "\n", ", ")), " ")
		switch {
		case !i.running && (i.err == nil || isRefused(i.err)):
			return skipped("%s", i.missing())
		case i.err != nil:
			return failure("See the log of the proxy, and `reprise ping`.", "what listens at %s does not answer: %v", i.address, withoutURL(i.err))
		case i.status != http.StatusOK:
			return failure("Wait until it has loaded its entries; one that drains is about to stop.", "the instance at %s says: %s", i.address, said)
		}
		return ok("the instance at %s says: %s", i.address, said)
	}, values)
}
