package supervisor

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/internal/procfs"
	"github.com/symmrepl/symmrepl/session/inherit"
)

// A worker has about ten threads before its first cell, and so has this process. Go's runtime ends
// a process that needs another thread and cannot create it.
const threadsOfRank = 12

// This process has nine descriptors for each of its workers, and two for each rank of another
// process. The rest are files that are open for a moment while a worker starts, and further front
// ends.
const (
	filesOfRank    = 9
	filesOfLink    = 2
	filesOfSession = 24
)

// EnoughRoom returns an error if a limit of the system is too low for this process: it has workers
// of local ranks, and links to remote ranks. part names the process.
func EnoughRoom(part string, local, remote int) error {
	if err := enoughThreads(part, local, procfs.ThreadLimit); err != nil {
		return err
	}
	return enoughFiles(part, filesOfSession+local*filesOfRank+remote*filesOfLink, procfs.FileLimit)
}

// enoughThreads returns an error if the user's limit does not allow the threads that part needs.
// limits is procfs.ThreadLimit.
func enoughThreads(part string, ranks int, limits func() (limit, threads uint64)) error {
	limit, threads := limits()
	if need := uint64(2*inherit.Threads + ranks*threadsOfRank); limit > 0 && limit < threads+need {
		return fmt.Errorf("%s needs about %d threads, and the user may have %d and has %d already: `ulimit -u %d` raises the limit",
			part, need, limit, threads, threads+2*need)
	}
	return nil
}

// enoughFiles returns an error if the limit of this process does not allow the file descriptors that
// part needs. limits is procfs.FileLimit. Go's runtime raises the soft limit to the hard one by itself.
func enoughFiles(part string, need int, limits func() (limit, open uint64)) error {
	limit, open := limits()
	if need := uint64(need); limit < open+need {
		return fmt.Errorf("%s needs about %d file descriptors, and a process may have %d and this one has %d already: `ulimit -n %d` raises the limit",
			part, need, limit, open, open+2*need)
	}
	return nil
}

// raiseFiles adds the remedy to an error for lack of descriptors.
func raiseFiles(err error) error {
	if !errors.Is(err, unix.EMFILE) {
		return err
	}
	limit, open := procfs.FileLimit()
	return fmt.Errorf("%w: the session has %d file descriptors and may have %d; `ulimit -n %d` raises the limit", err, open, limit, 2*limit)
}
