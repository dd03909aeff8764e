package worker

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/internal/procfs"
)

// adopt makes this process, a worker, the parent of all orphaned processes that its cells have
// started, so that endDescendants finds them.
func adopt() { unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// endLimit bounds endDescendants, because programs may start processes faster than it kills them.
const endLimit = time.Second

// endDescendants kills the processes that this process and its children have started, until none is
// left.
func endDescendants() {
	for begun := time.Now(); hasChildren() && time.Since(begun) < endLimit; time.Sleep(time.Millisecond) {
		left := descendants(os.Getpid())
		if len(left) == 0 {
			return
		}
		for _, pid := range left {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// hasChildren reports whether this process has a child, running or not. It adopts orphans, so
// without a child it has no descendant.
func hasChildren() bool {
	return unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT|unix.WALL, nil) != unix.ECHILD
}

// descendants lists the running children of a process and, recursively, their children.
func descendants(of int) []int {
	children := map[int][]int{}
	for _, pid := range procfs.Processes() {
		if info, err := procfs.Of(pid); err == nil && !info.Exiting {
			children[info.Parent] = append(children[info.Parent], pid)
		}
	}
	list := append([]int(nil), children[of]...)
	for i := 0; i < len(list); i++ {
		list = append(list, children[list[i]]...)
	}
	return list
}
