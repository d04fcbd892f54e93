package config

import (
	"testing"
	"testing/fstest"
)

func TestAvailableMemory(t *testing.T) {
	const gib = 1 << 30
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	for _, c := range []struct {
		name    string
		files   fstest.MapFS
		machine int64
		want    int64
		from    string
	}{
		{"container, version 2", fstest.MapFS{"proc/self/cgroup": file("0::/\n"), "sys/fs/cgroup/memory.max": file("536870912\n")}, 8 * gib, gib / 2, FromGroup},
		{"unit, version 2", fstest.MapFS{"proc/self/cgroup": file("0::/system.slice/reprise.service\n"),
			"sys/fs/cgroup/system.slice/reprise.service/memory.max": file("1073741824\n"), "sys/fs/cgroup/system.slice/memory.max": file("max\n")}, 8 * gib, gib, FromGroup},
		{"the group above has less", fstest.MapFS{"proc/self/cgroup": file("0::/pod/container\n"),
			"sys/fs/cgroup/pod/container/memory.max": file("max\n"), "sys/fs/cgroup/pod/memory.max": file("2147483648\n")}, 8 * gib, 2 * gib, FromGroup},
		{"no limit, version 2", fstest.MapFS{"proc/self/cgroup": file("0::/\n"), "sys/fs/cgroup/memory.max": file("max\n")}, 8 * gib, 8 * gib, fromMachine},
		{"container, version 1, path of the host", fstest.MapFS{"proc/self/cgroup": file("12:cpu,cpuacct:/docker/ab\n5:memory:/docker/ab\n1:name=systemd:/docker/ab\n"),
			"sys/fs/cgroup/memory/memory.limit_in_bytes": file("268435456\n")}, 8 * gib, gib / 4, FromGroup},
		{"no limit, version 1", fstest.MapFS{"proc/self/cgroup": file("5:memory:/\n"), "sys/fs/cgroup/memory/memory.limit_in_bytes": file("9223372036854771712\n")}, 8 * gib, 8 * gib, fromMachine},
		{"more than the machine has", fstest.MapFS{"proc/self/cgroup": file("0::/\n"), "sys/fs/cgroup/memory.max": file("17179869184\n")}, 8 * gib, 8 * gib, fromMachine},
		{"machine not known", fstest.MapFS{"proc/self/cgroup": file("0::/\n"), "sys/fs/cgroup/memory.max": file("17179869184\n")}, 0, 16 * gib, FromGroup},
		{"no control groups", fstest.MapFS{}, 8 * gib, 8 * gib, fromMachine},
		{"nothing known", fstest.MapFS{"proc/self/cgroup": file("nonsense\n0:\n")}, 0, 0, ""},
		{"nonsense in a file", fstest.MapFS{"proc/self/cgroup": file("0::/../../x\n"), "sys/fs/cgroup/x/memory.max": file("lots")}, gib, gib, fromMachine},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, from := available(c.files, c.machine); got != c.want || from != c.from {
				t.Errorf("%d from %q, want %d from %q", got, from, c.want, c.from)
			}
		})
	}
}
