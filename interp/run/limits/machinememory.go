package limits

import (
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
)

// availableMemory returns the number of bytes of memory that this process may still allocate, and
// the total, for either the machine or the process's control group, whichever has less free.
func availableMemory() (free, total uint64) {
	table, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 1, 1 // unknown, so treated as enough
	}
	free, total = numberAfter(table, "MemAvailable:")<<10, numberAfter(table, "MemTotal:")<<10
	groups, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) < 3 {
			continue
		}
		root, limit, usage := "/sys/fs/cgroup", "memory.max", "memory.current"
		if parts[1] == "memory" {
			root, limit, usage = "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"
		} else if parts[1] != "" {
			continue
		}
		// In a container, the path may be that of the host; the control group is then at the root.
		for _, dir := range []string{path.Join(root, parts[2]), root} {
			most, err := readNumber(path.Join(dir, limit))
			used, err2 := readNumber(path.Join(dir, usage))
			if err != nil || err2 != nil || most > total {
				continue
			}
			stat, _ := os.ReadFile(path.Join(dir, "memory.stat"))
			// the kernel reclaims these when memory is needed
			used -= min(used, numberAfter(stat, "inactive_file ")+numberAfter(stat, "active_file "))
			if left := most - min(most, used); left < free {
				free, total = left, most
			}
		}
	}
	return free, total
}

func readNumber(file string) (uint64, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
}

// numberAfter returns the number after a key at the beginning of a line, or 0 if no line has the
// key.
func numberAfter(table []byte, key string) (n uint64) {
	for line := range strings.Lines(string(table)) {
		if rest, ok := strings.CutPrefix(line, key); ok {
			fmt.Sscan(rest, &n)
		}
	}
	return n
}
