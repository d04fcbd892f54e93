package config

import (
	"bufio"
	"bytes"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
)

// Sources of the memory limit.
const (
	FromGroup   = "cgroup"
	fromMachine = "machine"
)

// AvailableMemory returns the memory in bytes that the process may take, and where that limit comes from. It is 0 where neither is known,
// as on systems other than Linux.
func AvailableMemory() (limit int64, from string) { return available(os.DirFS("/"), physical()) }

func available(root fs.FS, machine int64) (int64, string) {
	group := ofGroup(root)
	switch {
	case group > 0 && (machine == 0 || group < machine):
		return group, FromGroup
	case machine > 0:
		return machine, fromMachine
	}
	return 0, ""
}

// ofGroup is the lowest limit of the control groups that hold this process, 0 if they have none.
func ofGroup(root fs.FS) (lowest int64) {
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0
	}
	for lines := bufio.NewScanner(bytes.NewReader(groups)); lines.Scan(); {
		// hierarchy:controllers:path; version 2 is hierarchy 0, without controllers
		fields := strings.SplitN(lines.Text(), ":", 3)
		if len(fields) < 3 {
			continue
		}
		switch {
		case fields[0] == "0" && fields[1] == "":
			lowest = lower(lowest, along(root, "sys/fs/cgroup", fields[2], "memory.max"))
		case strings.Contains(","+fields[1]+",", ",memory,"):
			lowest = lower(lowest, along(root, "sys/fs/cgroup/memory", fields[2], "memory.limit_in_bytes"))
		}
	}
	return lowest
}

// along is the lowest limit in the files on the way from a group up to the root of its hierarchy. In a container the path may be
// that of the host, of which only the root is there.
func along(root fs.FS, hierarchy, group, file string) (lowest int64) {
	for group = path.Clean("/" + group); ; group = path.Dir(group) {
		text, err := fs.ReadFile(root, path.Join(hierarchy, group, file))
		if err == nil {
			lowest = lower(lowest, limitIn(string(text)))
		}
		if group == "/" {
			return lowest
		}
	}
}

// unlimited is more than any machine has; version 1 writes its largest number of pages for no limit.
const unlimited = 1 << 60

// limitIn reads a limit; 0 is none, which version 2 writes as "max".
func limitIn(text string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n <= 0 || n >= unlimited {
		return 0
	}
	return n
}

// lower is the lower of two limits, of which 0 is none.
func lower(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
