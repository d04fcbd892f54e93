package redistest

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// Cluster is three primaries that share the 16,384 slots.
type Cluster struct {
	Nodes []*Server
}

// Addrs are the addresses of all nodes.
func (c *Cluster) Addrs() (all []string) {
	for _, n := range c.Nodes {
		all = append(all, n.Addr)
	}
	return all
}

// StartCluster starts a cluster of three and waits until it serves.
func StartCluster(t testing.TB, o Options) *Cluster {
	t.Helper()
	o.Extra = append(o.Extra, "cluster-enabled yes", "cluster-node-timeout 3000")
	if o.TLS != nil {
		o.Extra = append(o.Extra, "tls-cluster yes")
	}
	c := &Cluster{}
	const slots, nodes = 16384, 3
	for i := range nodes {
		s := Start(t, o)
		add := []string{"CLUSTER", "ADDSLOTS"}
		for slot := slots * i / nodes; slot < slots*(i+1)/nodes; slot++ {
			add = append(add, strconv.Itoa(slot))
		}
		s.Must(add...)
		s.Must("CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i+1))
		c.Nodes = append(c.Nodes, s)
	}
	for _, s := range c.Nodes[1:] {
		c.Nodes[0].Must("CLUSTER", "MEET", "127.0.0.1", s.Port())
	}
	for _, s := range c.Nodes {
		until(t, "cluster", func() bool {
			info := fmt.Sprint(s.Must("CLUSTER", "INFO"))
			return strings.Contains(info, "cluster_state:ok") && strings.Contains(info, "cluster_known_nodes:3")
		})
	}
	return c
}

// Owner is the node that has the slot of a key.
func (c *Cluster) Owner(t testing.TB, key string) *Server {
	t.Helper()
	for _, s := range c.Nodes {
		if _, err := s.Do("GET", key); err == nil || !strings.HasPrefix(err.Error(), "MOVED") {
			return s
		}
	}
	t.Fatalf("no node has %q", key)
	return nil
}

// Failover is a primary with a replica, and sentinels that make the replica the primary in Switch, and where the primary is gone in AwaitSwitch.
type Failover struct {
	Primary, Replica *Server
	Sentinels        []*Server
	Master           string // the name that the sentinels give to the primary
}

// StartFailover starts the servers and waits until the sentinels have found the replica. A quorum is more than half of the sentinels.
// SentinelPassword may be "".
func StartFailover(t testing.TB, o Options, sentinels int, sentinelPassword string) *Failover {
	t.Helper()
	f := &Failover{Primary: Start(t, o), Master: "cache"}
	replica := o
	replica.Extra = append(replica.Extra[:len(replica.Extra):len(replica.Extra)], "replicaof 127.0.0.1 "+f.Primary.Port())
	f.Replica = Start(t, replica)
	until(t, "replication", func() bool { return f.Replica.Info("replication")["master_link_status"] == "up" })
	for range sentinels {
		f.Sentinels = append(f.Sentinels, f.startSentinel(t, o, sentinels/2+1, sentinelPassword))
	}
	for _, s := range f.Sentinels {
		until(t, "sentinels", func() bool {
			state := s.Info("sentinel")["master0"]
			return strings.Contains(state, "status=ok") && strings.Contains(state, "slaves=1") && strings.Contains(state, fmt.Sprintf("sentinels=%d", sentinels))
		})
	}
	return f
}

func (f *Failover) startSentinel(t testing.TB, o Options, quorum int, password string) *Server {
	t.Helper()
	set := func(format string, args ...any) string { return fmt.Sprintf("sentinel "+format, args...) }
	lines := []string{
		set("monitor %s 127.0.0.1 %s %d", f.Master, f.Primary.Port(), quorum),
		set("down-after-milliseconds %s %d", f.Master, patient), set("failover-timeout %s 5000", f.Master),
	}
	if o.Password != "" {
		lines = append(lines, set("auth-pass %s %s", f.Master, o.Password))
	}
	if password != "" {
		lines = append(lines, "requirepass "+password, set("sentinel-pass %s", password))
	}
	s := Start(t, Options{TLS: o.TLS, Program: o.Program, Extra: lines, Password: password, sentinel: true})
	// From version 7 on: a sentinel that was stopped for two seconds does not rest for half a minute, and looks at its servers every second.
	s.Do("SENTINEL", "DEBUG", "tilt-trigger", strconv.Itoa(patient), "info-period", "1000")
	return s
}

// Switch makes the sentinels exchange primary and replica now, as an operator does, and waits until the replica is the primary. The command
// is sent again where the sentinel refuses it, because the replica has not answered it for some seconds, or has given up.
func (f *Failover) Switch(t testing.TB) {
	t.Helper()
	until(t, "failover", func() bool {
		state, err := f.Sentinels[0].Do("SENTINEL", "MASTER", f.Master) // before the look at the primary: a failover that ends in between is under way here
		if f.switched() {
			return true
		}
		if err == nil && !strings.Contains(fmt.Sprint(state), "failover_in_progress") {
			f.Sentinels[0].Do("SENTINEL", "FAILOVER", f.Master)
		}
		return false
	})
	f.Primary, f.Replica = f.Replica, f.Primary
}

// AwaitSwitch waits until the sentinels have found that the primary is gone, the replica is the primary, and the sentinels say so; then it
// exchanges both in f.
func (f *Failover) AwaitSwitch(t testing.TB) {
	t.Helper()
	f.downAfter(hasty)
	until(t, "failover", f.switched)
	f.downAfter(patient)
	f.Primary, f.Replica = f.Replica, f.Primary
}

func (f *Failover) switched() bool {
	role, _ := f.Replica.Do("ROLE")
	list, _ := role.([]any)
	at, _ := f.Sentinels[0].Do("SENTINEL", "GET-MASTER-ADDR-BY-NAME", f.Master)
	return len(list) > 0 && list[0] == "master" && fmt.Sprint(at) == fmt.Sprintf("[127.0.0.1 %s]", f.Replica.Port())
}

// Milliseconds without an answer after which sentinels take a server for gone: hasty in AwaitSwitch only, so that a busy machine, which keeps
// a primary from its answers for a second, makes no failover that the test does not want.
const hasty, patient = 1000, 600_000

func (f *Failover) downAfter(ms int) {
	for _, s := range f.Sentinels {
		s.Must("SENTINEL", "SET", f.Master, "down-after-milliseconds", strconv.Itoa(ms))
	}
}
