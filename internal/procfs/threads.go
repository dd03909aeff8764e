package procfs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// ThreadLimit returns how many threads this process's user may have and how many there are, or 0 and 0 if there is no limit: for root, who is above it.
func ThreadLimit() (limit, threads uint64) {
	var r unix.Rlimit
	uid := os.Getuid()
	if uid == 0 || unix.Getrlimit(unix.RLIMIT_NPROC, &r) != nil || r.Cur == unix.RLIM_INFINITY {
		return 0, 0
	}
	files, _ := filepath.Glob("/proc/[0-9]*/status")
	for _, file := range files {
		threads += threadsOf(file, uid)
	}
	return r.Cur, threads
}

// threadsOf returns how many threads a process has according to its status file, 0 if it is another user's.
func threadsOf(file string, user int) (n uint64) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0 // it has ended
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
