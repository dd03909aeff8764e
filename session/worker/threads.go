package worker

import (
	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/session/inherit"
)

// leaveThreads lowers this worker's limit of threads, so that the session can go on when the cells
// of its ranks have used all threads. Each process compares the number of all the user's threads
// with its own limit.
func leaveThreads() {
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NPROC, &r) == nil && r.Cur != unix.RLIM_INFINITY && r.Cur > inherit.Threads {
		r.Cur -= inherit.Threads
		unix.Setrlimit(unix.RLIMIT_NPROC, &r)
	}
}
