package procfs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// OOMKills returns a number that grows when the kernel kills a process of this process's control
// group because there is no memory left, whether it is the group's memory or the machine's. Without
// control groups that count, it grows with each such process of the machine. It is 0 if the kernel
// does not provide either number.
func OOMKills() uint64 {
	groups, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		file := ""
		switch {
		case len(parts) < 3:
			continue
		case parts[1] == "memory":
			file = filepath.Join("/sys/fs/cgroup/memory", parts[2], "memory.oom_control")
		case parts[1] == "":
			file = filepath.Join("/sys/fs/cgroup", parts[2], "memory.events.local")
		}
		if n, ok := oomKills(file); ok {
			return n
		}
	}
	n, _ := oomKills("/proc/vmstat")
	return n
}

// oomKills returns the number on the line oom_kill of a file, and whether there is one.
func oomKills(file string) (n uint64, ok bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, "oom_kill "); found {
			_, err := fmt.Sscan(rest, &n)
			return n, err == nil
		}
	}
	return 0, false
}
