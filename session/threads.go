package session

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// A worker has about ten threads before its first cell, and so has this process. Go's runtime ends a process that wants another thread and gets none.
const (
	threadsOfRank    = 12
	threadsOfSession = 12
)

// enoughThreads is an error if the user may not have the threads that a session needs. Limits is procfs.ThreadLimit.
func enoughThreads(ranks int, limits func() (limit, threads uint64)) error {
	limit, threads := limits()
	if need := uint64(2*threadsOfSession + ranks*threadsOfRank); limit > 0 && limit < threads+need {
		return fmt.Errorf("a session of %d ranks needs about %d threads, and the user may have %d, of which there are %d: `ulimit -u %d` raises the limit",
			ranks, need, limit, threads, threads+2*need)
	}
	return nil
}

// leaveThreads lowers the limit of this worker's user for this worker, so that the session can go on when the cells of its ranks have taken all threads. Each process
// counts all threads of the user against the limit of its own.
func leaveThreads() {
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NPROC, &r) == nil && r.Cur != unix.RLIM_INFINITY && r.Cur > threadsOfSession {
		r.Cur -= threadsOfSession
		unix.Setrlimit(unix.RLIMIT_NPROC, &r)
	}
}
