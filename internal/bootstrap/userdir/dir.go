package userdir

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	dirPrefix  = "s"    // prefix of the names of processes' directories
	deadPrefix = "dead" // prefix of their names while they are removed
	lockName   = "lock" // a file in each directory, locked while the process lives; the kernel unlocks it however the process ends
)

// young is the age below which a directory without a lock counts as one that is being made.
const young = 10 * time.Second

// Dir is the directory of one process, which only this user can enter.
type Dir struct {
	Path string
	lock *os.File
}

// New makes a directory for this process, after it has removed the directories of dead processes
// and the sockets at which no process listens.
func New() (*Dir, error) {
	base, err := Base()
	if err != nil {
		return nil, err
	}
	return newIn(base)
}

// SharedVariable is the environment variable with the place of directories that NewShared makes.
const SharedVariable = "SYMMREPL_SHM"

// NewShared is New for files that processes of this host map: the directory is in SharedVariable's
// place, or else in shared memory.
func NewShared() (*Dir, error) {
	base, err := first(below(os.Getenv(SharedVariable), "/dev/shm", os.TempDir()))
	if err != nil {
		return nil, err
	}
	return newIn(base)
}

func newIn(base string) (*Dir, error) {
	guard, err := lock(base)
	if err != nil {
		return nil, err
	}
	defer guard.Close()
	sweep(base)
	path, err := os.MkdirTemp(base, dirPrefix)
	if err != nil {
		return nil, err
	}
	held, err := os.OpenFile(filepath.Join(path, lockName), os.O_CREATE|os.O_RDWR|syscall.O_CLOEXEC, 0o600)
	if err == nil {
		err = unix.Flock(int(held.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err != nil {
		os.RemoveAll(path)
		return nil, err
	}
	return &Dir{path, held}, nil
}

// Remove removes the directory and its contents.
func (d *Dir) Remove() {
	os.RemoveAll(d.Path)
	d.lock.Close()
}

// Live lists the directories of live processes, newest first.
func Live() []string { return slices.DeleteFunc(list(bases()...), abandoned) }

// Times for which RemoveAbandoned waits for the end of a process: at least, and at most if the process
// is ending. A process keeps its lock until its last thread has ended, which takes seconds on a busy
// machine.
const (
	endSoon = 500 * time.Millisecond
	endLate = time.Minute
)

// RemoveAbandoned removes the directory at path, made by New, if its process is gone or ends soon,
// and then all other abandoned entries. It waits for as long as ends, which reports whether that
// process is ending, returns true. If another goroutine or process removes the directory already,
// RemoveAbandoned waits for it, and removes the rest.
func RemoveAbandoned(path string, ends func() bool) {
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(path); err != nil || abandoned(path) {
			base := filepath.Dir(path)
			if guard, err := lock(base); err == nil {
				sweep(base)
				guard.Close()
			}
			return
		}
		if waited := time.Since(begun); waited > endLate || waited > endSoon && !ends() {
			return
		}
	}
}

// Sweep removes the directories and sockets of dead processes.
func Sweep() {
	for _, base := range bases() {
		if guard, err := lock(base); err == nil {
			sweep(base)
			guard.Close()
		}
	}
}

// abandoned reports whether the process that made a directory is gone.
func abandoned(path string) bool {
	held, err := os.OpenFile(filepath.Join(path, lockName), os.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		if !errors.Is(err, os.ErrNotExist) {
			return false // the state is unknown, for example because no descriptor is left
		}
		info, err := os.Stat(path)
		return err == nil && time.Since(info.ModTime()) > young
	}
	defer held.Close()
	return unix.Flock(int(held.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
}

// sweep removes the directories and sockets of dead processes. base is locked. A directory is renamed
// first: then a process that ends makes no more files in it, and if this process is killed meanwhile,
// the next sweep removes the rest.
func sweep(base string) {
	for _, path := range list(base) {
		if abandoned(path) {
			os.Rename(path, filepath.Join(base, deadPrefix+filepath.Base(path)))
		}
	}
	entries, _ := os.ReadDir(base)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), deadPrefix) {
			os.RemoveAll(filepath.Join(base, e.Name()))
		}
		if e.Type() != os.ModeSocket {
			continue
		}
		path := filepath.Join(base, e.Name())
		conn, err := net.Dial("unix", path)
		if err == nil {
			conn.Close()
		} else if errors.Is(err, syscall.ECONNREFUSED) { // no process listens any more
			os.Remove(path)
		}
	}
}

// list returns the directories of processes in bases, newest first.
func list(bases ...string) []string {
	var paths []string
	made := map[string]time.Time{}
	for _, base := range bases {
		entries, _ := os.ReadDir(base)
		for _, e := range entries {
			info, err := e.Info()
			if err != nil || !e.IsDir() || !strings.HasPrefix(e.Name(), dirPrefix) {
				continue
			}
			path := filepath.Join(base, e.Name())
			paths = append(paths, path)
			made[path] = info.ModTime()
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return made[b].Compare(made[a]) })
	return paths
}
