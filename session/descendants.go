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

// markVariable names, in the environment of a worker and of all that its cells start, the worker. It finds those that have left the worker's
// process group, after the worker has been killed.
const markVariable = "SYMMREPL_OF_WORKER"

// mark is the value of markVariable for a worker.
func (s workerSpec) mark() string { return fmt.Sprintf("%s/%d.%d", s.Dir, s.Rank, s.Incarnation) }

// adopt makes this process, a worker, the parent of whatever its cells start and leave behind, so that endDescendants finds it.
func adopt() { unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// endLimit bounds endDescendants, for programs that start others faster than they are killed.
const endLimit = time.Second

// endDescendants kills the processes that this one and its children have started, until there are none.
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

// descendants lists the children of a process that still run, and theirs.
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

// clearAfter removes what a worker that has died has left: the processes that its cells had put into sessions of their own, and its sockets.
func clearAfter(spec workerSpec, pid int) {
	entry := []byte(markVariable + "=" + spec.mark() + "\x00")
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range environs {
		environ, err := os.ReadFile(name) // those of other users cannot be read
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
