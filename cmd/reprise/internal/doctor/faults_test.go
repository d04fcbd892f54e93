package doctor

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/cmd/internal/cli"
)

// patient is a machine and an environment in which all is well, of which a fault changes one thing.
type patient struct {
	t       *testing.T
	env     map[string]string
	machine system
	flags   []string
}

func newPatient(t *testing.T) *patient {
	t.Helper()
	p := &patient{t: t, env: map[string]string{}, machine: system{
		Memory:      func() (int64, string) { return 4 << 30, "machine" },
		Descriptors: func() uint64 { return 65536 },
		Free:        func(string) (uint64, error) { return 64 << 30, nil },
		Now:         time.Now,
	}}
	p.set("LISTEN", "127.0.0.1:0", "ADMIN_LISTEN", "127.0.0.1:0", "STORE", "file:"+filepath.Join(t.TempDir(), "r.db"), "UPSTREAM", serve(t, soundEngine(), nil)+"/v1")
	return p
}

// set sets settings, each a name without prefix and a value.
func (p *patient) set(settings ...string) {
	for pair := range slices.Chunk(settings, 2) {
		p.env["REPRISE_"+pair[0]] = pair[1]
	}
}

// examine runs the doctor, and returns its report with what it has printed.
func (p *patient) examine(flags ...string) (r report, printed string) {
	p.t.Helper()
	var out, talk bytes.Buffer
	var environ []string
	for _, name := range slices.Sorted(maps.Keys(p.env)) {
		environ = append(environ, name+"="+p.env[name])
	}
	err := run(cli.Terminal{Out: &out, Err: &talk, Environ: environ}, slices.Concat([]string{"--json"}, p.flags, flags), p.machine)
	if bad := json.Unmarshal(out.Bytes(), &r); bad != nil || talk.Len() > 0 {
		p.t.Fatalf("%v, %v, %q", bad, err, talk.String())
	}
	found, _ := errors.AsType[*Verdict](err)
	if found == nil && (err != nil || r.State != stateOK) || found != nil && (found.Errors != r.Errors || found.Warnings != r.Warnings || r.State == stateOK) {
		p.t.Errorf("%v, and the report is %+v", err, r)
	}
	return r, out.String()
}

// complaints are the ids of the checks that complain, each with its state.
func (r *report) complaints() (all []string) {
	for _, c := range r.Checks {
		if c.State == stateWarning || c.State == stateError {
			all = append(all, string(c.State)+" "+c.ID)
		}
	}
	return all
}

// fault is one thing that is wrong.
type fault struct {
	name   string
	names  string // the state and the id of the check that names it
	says   string // what is in the text that was found
	arrive func(p *patient)
}

// TestFaults: each fault alone is named by its check, and no other check complains.
func TestFaults(t *testing.T) {
	for _, f := range slices.Concat(settingFaults, certificateFaults, upstreamFaults, embedderFaults, storeFaults, redisFaults, instanceFaults) {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			p := newPatient(t)
			f.arrive(p)
			r, printed := p.examine()
			if got := r.complaints(); len(got) != 1 || got[0] != f.names || !strings.Contains(printed, f.says) {
				t.Errorf("%q, want %q with %q; %s", got, f.names, f.says, printed)
			}
			for _, c := range r.Checks {
				if c.State == stateError && (c.Repair == "" || c.Why == "") {
					t.Errorf("%s says neither why nor what helps", c.ID)
				}
			}
		})
	}
}

func TestNoFault(t *testing.T) {
	r, printed := newPatient(t).examine()
	if got := r.complaints(); len(got) > 0 || r.Passed == 0 {
		t.Errorf("%q; %s", got, printed)
	}
}

// TestChecksHaveReasons: an id is in the list with its reason, and every id of the list is checked.
func TestChecksHaveReasons(t *testing.T) {
	r, _ := newPatient(t).examine()
	var ids []string
	for _, c := range r.Checks {
		ids = append(ids, c.ID)
		if c.Why == "" {
			t.Errorf("%s has no reason", c.ID)
		}
	}
	for id := range reasons {
		if !slices.Contains(ids, id) {
			t.Errorf("%s is not checked", id)
		}
	}
}

// write writes a file of the test.
func (p *patient) write(name, text string) (path string) {
	p.t.Helper()
	path = filepath.Join(p.t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return path
}
