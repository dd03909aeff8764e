package procfs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// ThreadLimit returns the number of threads that this process's user may have, and the number that
// exist, or 0 and 0 if there is no limit, as for root.
func ThreadLimit() (limit, threads uint64) {
	var r unix.Rlimit
	uid := os.Getuid()
	if uid == 0 || unix.Getrlimit(unix.RLIMIT_NPROC, &r) != nil || r.Cur == unix.RLIM_INFINITY {
		return 0, 0
	}
	for _, pid := range Processes() {
		threads += threadsOf(fmt.Sprintf("/proc/%d/status", pid), uid)
	}
	return r.Cur, threads
}

// Runs reports whether a thread of a process runs code or a system call, such as a write in which SIGKILL
// has found it and which it completes.
func Runs(pid int) bool {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, file := range files {
		if thread, err := Read(file); err == nil && !thread.Left {
			return true
		}
	}
	return false
}

// threadsOf returns the number of a process's threads from its status file, 0 if the process
// belongs to another user.
func threadsOf(file string, user int) (n uint64) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0 // the process has ended
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "Uid:"); ok {
			if uid := -1; !scan(rest, &uid) || uid != user {
				return 0
			}
		}
		if rest, ok := strings.CutPrefix(line, "Threads:"); ok {
			scan(rest, &n)
		}
	}
	return n
}

// scan reads the number at the beginning of text.
func scan(text string, n any) bool {
	_, err := fmt.Sscan(text, n)
	return err == nil
}
