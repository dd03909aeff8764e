package launcher

import (
	"fmt"
	"hash/fnv"
	"os"
	"strconv"
	"strings"
)

// Key identifies the job among those on this host: by the launcher's name for the job, by its port, which no two jobs use at the same
// time, or, if the launcher gives neither, by the launcher's process.
func (l Launcher) Key() string {
	h := fnv.New64a()
	fmt.Fprint(h, l.Name, "/", l.Job, "/", l.Port)
	if l.Job == "" && l.Port == 0 {
		parent := os.Getppid()
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", parent))
		fmt.Fprint(h, "/", parent, "/", startTime(string(stat)))
	}
	return strconv.FormatUint(h.Sum64(), 36)
}

// startTime returns when a process started, in the kernel's ticks, from its line of /proc/PID/stat. It tells apart processes that had the
// same number.
func startTime(line string) string {
	const started = 19 // counted from the state, which follows the name; that is in parentheses and may hold anything
	fields := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	if len(fields) <= started {
		return ""
	}
	return fields[started]
}
