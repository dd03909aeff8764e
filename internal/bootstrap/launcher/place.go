package launcher

import (
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
	"golang.org/x/sys/unix"
)

// BaseDir finds or makes the user's directory of sessions. Its path is short, since those of sockets may not
// be long.
func BaseDir() (string, error) {
	var failed error
	for _, root := range []string{os.Getenv("XDG_RUNTIME_DIR"), os.TempDir(), "/tmp"} {
		if root == "" || len(root) > 60 {
			continue
		}
		path := filepath.Join(root, fmt.Sprintf("symmrepl-%d", os.Getuid()))
		err := os.Mkdir(path, 0o700)
		if err == nil || errors.Is(err, os.ErrExist) {
			err = Private(path)
		}
		if err == nil {
			return path, nil
		}
		failed = errors.Join(failed, err)
	}
	return "", fmt.Errorf("no directory for the session's sockets: %w", failed)
}

// private refuses a directory that others could have made or can enter.
func Private(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	owner := info.Sys().(*syscall.Stat_t).Uid
	if !info.IsDir() || int(owner) != os.Getuid() || info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s is not a directory of user %d that is closed to others (it is %s of user %d); remove it", path, os.Getuid(), info.Mode(), owner)
	}
	return nil
}

// LockBase waits for the right to make and sweep directories and sockets: one that is being made is not
// locked yet, and must not be taken for dead.
func LockBase(base string) (*os.File, error) {
	f, err := os.Open(base)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Key tells jobs on one host apart: by the launcher's name for the job, by its port, which no two jobs can
// use at a time, or, if it gives neither, by its process.
func (l Launcher) Key() string {
	h := fnv.New64a()
	fmt.Fprint(h, l.Name, "/", l.Job, "/", l.Port)
	if l.Job == "" && l.Port == 0 {
		parent := os.Getppid()
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", parent))
		fmt.Fprint(h, "/", parent, "/", startTime(string(stat)))
	}
	return strconv.FormatUint(h.Sum64(), 36)
}

// startTime is when a process started, in the kernel's ticks; it tells apart processes that had the same
// number.
func startTime(line string) string {
	const started = 19 // counted from the state, which follows the name; that is in parentheses and may hold anything
	fields := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	if len(fields) <= started {
		return ""
	}
	return fields[started]
}

// Listen listens at path, also if a dead process has left a socket there.
func Listen(path string) (net.Listener, error) {
	guard, err := LockBase(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer guard.Close()
	if conn, err := net.Dial("unix", path); err == nil {
		conn.Close()
		return nil, fmt.Errorf("another rank 0 listens at %s", path)
	}
	os.Remove(path)
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	return UserListener{l.(*net.UnixListener)}, nil
}

// UserListener accepts connections of this user only.
type UserListener struct{ *net.UnixListener }

func (l UserListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		if bootstrap.SameUser(conn) == nil {
			return conn, nil
		}
		conn.Close()
	}
}
