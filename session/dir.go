package session

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"time"

	"github.com/symmrepl/symmrepl/internal/bootstrap/launcher"
	"golang.org/x/sys/unix"
)

// Files of a session's directory.
const (
	lockName   = "lock"   // locked for as long as the session lives; the kernel unlocks it however that ends
	attachName = "attach" // the socket for further front ends, in the controller's directory
)

// How names in the user's directory begin.
const (
	sessionPrefix = "s" // of a session's directory
	meetingPrefix = "j" // of the socket at which the ranks of a launcher's job meet
)

// sessionDir is a directory that only this user can enter, with the sockets of one process of a session and
// its workers.
type sessionDir struct {
	path string
	lock *os.File
}

// newSessionDir makes a directory, after removing those of dead sessions.
func newSessionDir() (*sessionDir, error) {
	base, err := launcher.BaseDir()
	if err != nil {
		return nil, err
	}
	guard, err := launcher.LockBase(base)
	if err != nil {
		return nil, err
	}
	defer guard.Close()
	sweep(base)
	path, err := os.MkdirTemp(base, sessionPrefix)
	if err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(path, lockName), os.O_CREATE|os.O_RDWR|syscall.O_CLOEXEC, 0o600)
	if err == nil {
		err = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err != nil {
		os.RemoveAll(path)
		return nil, err
	}
	return &sessionDir{path, lock}, nil
}

func (d *sessionDir) remove() {
	os.RemoveAll(d.path)
	d.lock.Close()
}

// abandoned reports whether the process that made the session directory is gone.
func abandoned(path string) bool {
	lock, err := os.OpenFile(filepath.Join(path, lockName), os.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		if !errors.Is(err, os.ErrNotExist) {
			return false // nothing is known, as when there are no descriptors left
		}
		// Not locked yet if it is very young.
		info, err := os.Stat(path)
		return err == nil && time.Since(info.ModTime()) > 10*time.Second
	}
	defer lock.Close()
	return unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
}

// sweep removes the directories and sockets that dead sessions of this user have left. The base is locked.
func sweep(base string) {
	for _, path := range sessionPaths(base) {
		if abandoned(path) {
			os.RemoveAll(path)
		}
	}
	sockets, _ := filepath.Glob(filepath.Join(base, meetingPrefix+"*"))
	for _, path := range sockets {
		conn, err := net.Dial("unix", path)
		if err == nil {
			conn.Close()
		} else if errors.Is(err, syscall.ECONNREFUSED) { // nobody listens any more
			os.Remove(path)
		}
	}
}

// removeIfAbandoned removes a session directory whose maker is gone, or goes within a moment, and what else
// is left.
func removeIfAbandoned(path string) {
	for range 50 {
		if _, err := os.Stat(path); err != nil {
			return
		}
		if abandoned(path) {
			os.RemoveAll(path)
			base := filepath.Dir(path)
			if guard, err := launcher.LockBase(base); err == nil {
				sweep(base)
				guard.Close()
			}
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// sessionPaths lists the session directories in base, newest first.
func sessionPaths(base string) []string {
	entries, _ := os.ReadDir(base)
	var paths []string
	made := map[string]time.Time{}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !e.IsDir() || !strings.HasPrefix(e.Name(), sessionPrefix) {
			continue
		}
		path := filepath.Join(base, e.Name())
		paths = append(paths, path)
		made[path] = info.ModTime()
	}
	sort.Slice(paths, func(i, j int) bool { return made[paths[i]].After(made[paths[j]]) })
	return paths
}
