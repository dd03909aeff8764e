package session

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/internal/procfs"
)

// markVariable is an environment variable that names the worker. The worker and all processes that
// its cells start have it. After a worker has been killed, the variable identifies processes that
// have left its process group.
const markVariable = "SYMMREPL_OF_WORKER"

// mark is the value of markVariable for a worker.
func (s workerSpec) mark() string { return fmt.Sprintf("%s/%d.%d", s.Dir, s.Rank, s.Incarnation) }

// adopt makes this process, a worker, the parent of all orphaned processes that its cells have
// started, so that endDescendants finds them.
func adopt() { unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// endLimit bounds endDescendants, because programs may start processes faster than it kills them.
const endLimit = time.Second

// endDescendants kills the processes that this process and its children have started, until none is
// left.
func endDescendants() {
	for begun := time.Now(); time.Since(begun) < endLimit; time.Sleep(time.Millisecond) {
		left := descendants(os.Getpid())
		if len(left) == 0 {
			return
		}
		for _, pid := range left {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// descendants lists the running children of a process and, recursively, their children.
func descendants(of int) []int {
	children := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		info, err2 := procfs.Read(name)
		if err == nil && err2 == nil && !info.Exiting {
			children[info.Parent] = append(children[info.Parent], pid)
		}
	}
	list := append([]int(nil), children[of]...)
	for i := 0; i < len(list); i++ {
		list = append(list, children[list[i]]...)
	}
	return list
}

// clearAfter cleans up after a dead worker: it kills the processes that its cells had put into
// sessions of their own, and removes its sockets.
func clearAfter(spec workerSpec, pid int) {
	entry := []byte(markVariable + "=" + spec.mark() + "\x00")
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range environs {
		environ, err := os.ReadFile(name) // the environments of other users' processes cannot be read
		if err != nil || !bytes.Contains(environ, entry) {
			continue
		}
		if left, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil && left != pid {
			syscall.Kill(left, syscall.SIGKILL)
		}
	}
	sockets, _ := filepath.Glob(filepath.Join(spec.Dir, fmt.Sprintf("r%d.%d", spec.Rank, pid)))
	for _, name := range sockets {
		os.Remove(name)
	}
}
