package session

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// A worker has about ten threads before its first cell, and so has this process. Go's runtime ends
// a process that needs another thread and cannot create it.
const (
	threadsOfRank    = 12
	threadsOfSession = 12
)

// enoughThreads returns an error if the user's limit does not allow the threads that a session
// needs. limits is procfs.ThreadLimit.
func enoughThreads(ranks int, limits func() (limit, threads uint64)) error {
	limit, threads := limits()
	if need := uint64(2*threadsOfSession + ranks*threadsOfRank); limit > 0 && limit < threads+need {
		return fmt.Errorf("a session of %d ranks needs about %d threads, and the user may have %d and has %d already: `ulimit -u %d` raises the limit",
			ranks, need, limit, threads, threads+2*need)
	}
	return nil
}

// leaveThreads lowers this worker's limit of threads, so that the session can go on when the cells
// of its ranks have used all threads. Each process compares the number of all the user's threads
// with its own limit.
func leaveThreads() {
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NPROC, &r) == nil && r.Cur != unix.RLIM_INFINITY && r.Cur > threadsOfSession {
		r.Cur -= threadsOfSession
		unix.Setrlimit(unix.RLIMIT_NPROC, &r)
	}
}
