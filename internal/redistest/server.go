// Package redistest starts real Redis or Valkey servers for tests: one, a cluster of three, or a primary with a replica and sentinels, each a
// process on a free port with a temporary folder, which ends with the test. A server can be killed, frozen and restarted; Proxy is a
// connection to it that can be cut, delayed and throttled.
//
// Without redis-server or valkey-server on PATH a test is skipped, or fails where REPRISE_TEST_REQUIRE names redis.
package redistest

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	redis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"

	"reprise/internal/needs"
)

// Options of a server. The zero value is one without password and without persistence.
type Options struct {
	Password   string        // of the default user; "": none
	ACL        []string      // rules of further users, each as after ACL SETUSER: "reprise on >secret ~* +@all"
	MaxMemory  string        // such as "8mb"; "": no limit
	Policy     string        // maxmemory-policy; "": noeviction
	AppendOnly bool          // every write is on disk before it is answered: Restart finds it
	TLS        *Certificates // the port takes TLS connections only; clients need a certificate
	Extra      []string      // further lines of the configuration
	Program    string        // the server to start; "": redis-server, or valkey-server where that alone is found

	sentinel bool
}

// Server is one running process.
type Server struct {
	Addr string // host:port

	t       testing.TB
	opt     Options
	dir     string
	program string
	cmd     *exec.Cmd
	ended   chan struct{}
}

// wait bounds how long a server may take for something that takes it well below a second; sentinels that were stopped for two seconds do
// nothing for half a minute.
const wait = 3 * time.Minute

// Programs are the paths of the servers found: redis-server, valkey-server, or both. Without any it ends the test.
func Programs(t testing.TB) (found []string) {
	t.Helper()
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			found = append(found, path)
		}
	}
	if found == nil {
		needs.Program(t, "redis-server", "valkey-server")
	}
	return found
}

// Start starts a server and waits until it answers.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	if o.Program == "" {
		o.Program = needs.Program(t, "redis-server", "valkey-server")
	}
	s := &Server{t: t, opt: o, dir: folder(t), program: o.Program}
	t.Cleanup(func() { s.Kill() })
	for range 5 { // another process may take a port between its choice and its use
		s.Addr = fmt.Sprintf("127.0.0.1:%d", FreePort(t))
		s.configure()
		if s.launch() {
			return s
		}
	}
	t.Fatalf("start %s: %s", o.Program, s.log())
	return nil
}

// folder is a temporary folder that is removed after the processes that use it have ended. The one of testing may not be removable
// while a killed server still writes.
func folder(t testing.TB) string {
	dir, err := os.MkdirTemp("", "redistest")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// FreePort is a port on loopback that nothing uses, below those that systems give to outgoing connections. The port 10,000 above is free too: nodes of a cluster use it.
func FreePort(t testing.TB) int {
	t.Helper()
	for range 100 {
		port := 20000 + rand.IntN(12000)
		if isFree(port) && isFree(port+10000) {
			return port
		}
	}
	t.Fatal("no free port")
	return 0
}

func isFree(port int) bool {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return false
	}
	l.Close()
	return true
}

// Port is the number after the colon of Addr.
func (s *Server) Port() string { return s.Addr[strings.LastIndexByte(s.Addr, ':')+1:] }

func (s *Server) configure() {
	var b bytes.Buffer
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("bind 127.0.0.1\ndir %s\nlogfile %s\ndaemonize no", s.dir, filepath.Join(s.dir, "log"))
	if s.opt.TLS != nil {
		line("port 0\ntls-port %s\ntls-cert-file %s\ntls-key-file %s\ntls-ca-cert-file %s", s.Port(), s.opt.TLS.ServerCert, s.opt.TLS.ServerKey, s.opt.TLS.CA)
		line("tls-replication yes")
	} else {
		line("port %s", s.Port())
	}
	if !s.opt.sentinel {
		s.configureData(line)
	}
	for _, l := range s.opt.Extra {
		line("%s", l)
	}
	if err := os.WriteFile(s.conf(), b.Bytes(), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *Server) configureData(line func(string, ...any)) {
	line("save \"\"\nrepl-diskless-sync-delay 0")
	if s.opt.Password != "" {
		line("requirepass %s\nmasterauth %s", s.opt.Password, s.opt.Password)
	}
	for _, user := range s.opt.ACL {
		line("user %s", user)
	}
	if s.opt.MaxMemory != "" {
		line("maxmemory %s", s.opt.MaxMemory)
	}
	if s.opt.Policy != "" {
		line("maxmemory-policy %s", s.opt.Policy)
	}
	if s.opt.AppendOnly {
		line("appendonly yes\nappendfsync always")
	}
}

func (s *Server) conf() string { return filepath.Join(s.dir, "redis.conf") }

// log is the end of what the server has logged.
func (s *Server) log() string {
	b, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	return string(b[max(0, len(b)-2000):])
}

// launch starts the process and reports whether it serves; it does not where it has ended.
func (s *Server) launch() bool {
	s.t.Helper()
	args := []string{s.conf()}
	if s.opt.sentinel {
		args = append(args, "--sentinel")
	}
	s.cmd = exec.Command(s.program, args...)
	s.cmd.Env = append(os.Environ(), "LC_ALL=C")
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.ended = make(chan struct{})
	go func(cmd *exec.Cmd, ended chan struct{}) {
		cmd.Wait()
		close(ended)
	}(s.cmd, s.ended)
	for end := time.Now().Add(wait); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		select {
		case <-s.ended:
			return false
		default:
		}
		if s.answers() {
			return true
		}
	}
	s.t.Fatalf("%s does not answer: %s", s.program, s.log())
	return false
}

// answers reports whether this very process answers, and has loaded what is on disk: where another one had taken the port meanwhile, that
// one answers, and INFO is answered while other commands are refused with LOADING.
func (s *Server) answers() bool {
	var answer redis.Error
	v, err := s.Do("INFO") // the sections of the process and of persistence are among those that it has by itself
	if err != nil {
		return errors.As(err, &answer) && !strings.HasPrefix(err.Error(), "LOADING")
	}
	has := func(field string) bool { return strings.Contains(fmt.Sprint(v), "\n"+field+"\r\n") }
	return has(fmt.Sprintf("process_id:%d", s.cmd.Process.Pid)) && (s.opt.sentinel || has("loading:0"))
}

// Kill ends the process as kill -9 does, and waits for its end. One that has ended stays so.
func (s *Server) Kill() {
	if s.cmd == nil {
		return
	}
	s.cmd.Process.Kill()
	<-s.ended
	s.cmd = nil
}

// Restart kills the process if it runs, and starts it again on its port with what it has on disk: nothing without AppendOnly.
func (s *Server) Restart() {
	s.t.Helper()
	s.Kill()
	if !s.launch() {
		s.t.Fatalf("restart %s: %s", s.program, s.log())
	}
}

// Freeze stops the process as SIGSTOP does: connections are accepted and nothing is answered.
func (s *Server) Freeze() { s.signal(syscall.SIGSTOP) }

// Thaw ends Freeze.
func (s *Server) Thaw() { s.signal(syscall.SIGCONT) }

func (s *Server) signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

// Do sends a command as the default user over a new connection. The answer is a string, an int64, a []any or nil.
func (s *Server) Do(args ...string) (any, error) {
	var secure *tls.Config
	if s.opt.TLS != nil {
		secure = s.opt.TLS.Client
	}
	c := s.client(secure)
	defer c.Close()
	all := make([]any, len(args))
	for i, arg := range args {
		all[i] = arg
	}
	v, err := c.Do(context.Background(), all...).Result()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	return v, err
}

func (s *Server) client(secure *tls.Config) *redis.Client {
	logging.Disable()
	return redis.NewClient(&redis.Options{Addr: s.Addr, Password: s.opt.Password, TLSConfig: secure, Protocol: 2, MaxRetries: -1, DialerRetries: 1,
		DialTimeout: wait, ReadTimeout: wait, WriteTimeout: wait, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}})
}

// Must is Do for a command that may not fail.
func (s *Server) Must(args ...string) any {
	s.t.Helper()
	v, err := s.Do(args...)
	if err != nil {
		s.t.Fatalf("%s: %v", args[0], err)
	}
	return v
}

// Info are the fields of one section of INFO.
func (s *Server) Info(section string) map[string]string {
	s.t.Helper()
	fields := map[string]string{}
	for line := range strings.SplitSeq(fmt.Sprint(s.Must("INFO", section)), "\r\n") {
		if name, value, ok := strings.Cut(line, ":"); ok {
			fields[name] = value
		}
	}
	return fields
}

// Calls are how often each command was called since CONFIG RESETSTAT, by its name in lower case. Commands that a script calls are included.
func (s *Server) Calls() map[string]int {
	s.t.Helper()
	calls := map[string]int{}
	for name, value := range s.Info("commandstats") {
		n, _, _ := strings.Cut(strings.TrimPrefix(value, "calls="), ",")
		calls[strings.TrimPrefix(name, "cmdstat_")], _ = strconv.Atoi(n)
	}
	return calls
}

// until waits for a condition.
func until(t testing.TB, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(wait); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if done() {
			return
		}
	}
	t.Fatalf("%s: not within %s", what, wait)
}
