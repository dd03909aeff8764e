package torchrun

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/internal/procfs"
	"github.com/symmrepl/symmrepl/session/wire"
)

// thread holds the kernel's knowledge of the main thread of a rank.
type thread struct {
	stopped bool // by a signal such as SIGSTOP
	runs    bool // or wants to
	sleeps  bool // for a time
	slow    wire.Slowness

	ran, waited uint64 // so far, in nanoseconds: for a processor
}

// starvedPart: a rank is slow if its main thread has waited for a processor for more than 1/starvedPart
// of the time between two looks.
const starvedPart = 4

// lookAt returns the state of a process's main thread. The look before is the base of its slowness.
func lookAt(pid int, before thread) (t thread) {
	task := fmt.Sprintf("/proc/%d/task/%d/", pid, pid)
	stat, err := procfs.Read(task + "stat")
	if err != nil {
		return thread{}
	}
	t.stopped = stat.State == "T" || stat.State == "t"
	t.runs = stat.State == "R" || stat.State == "D"
	if call, err := os.ReadFile(task + "syscall"); err == nil {
		var number int
		if _, err := fmt.Sscan(string(call), &number); err == nil {
			t.sleeps = number == unix.SYS_NANOSLEEP || number == unix.SYS_CLOCK_NANOSLEEP
		}
	}
	if text, err := os.ReadFile(task + "schedstat"); err == nil {
		fmt.Sscan(string(text), &t.ran, &t.waited)
		ran, waited := t.ran-before.ran, t.waited-before.waited
		if before.ran > 0 && waited > (ran+waited)/starvedPart && waited > uint64(50*time.Millisecond) {
			t.slow = wire.SlownessOf(time.Duration(ran), time.Duration(waited))
		}
	}
	return t
}
