package procfs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// OOMKills returns a number that grows whenever the kernel kills a process of this machine or of
// this process's control group because there is no memory left. It is 0 if the kernel does not
// provide the number.
func OOMKills() uint64 {
	n := oomKills("/proc/vmstat")
	groups, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(parts) < 3:
		case parts[1] == "memory":
			n += oomKills(filepath.Join("/sys/fs/cgroup/memory", parts[2], "memory.oom_control"))
		case parts[1] == "":
			n += oomKills(filepath.Join("/sys/fs/cgroup", parts[2], "memory.events"))
		}
	}
	return n
}

// oomKills returns the number on the line oom_kill of a file.
func oomKills(file string) (n uint64) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "oom_kill "); ok {
			fmt.Sscan(rest, &n)
		}
	}
	return n
}
