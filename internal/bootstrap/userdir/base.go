package userdir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// Base finds or makes the user's directory. Its path is short, because paths of sockets are limited to about 100 bytes.
func Base() (string, error) {
	var failed error
	for _, root := range []string{os.Getenv("XDG_RUNTIME_DIR"), os.TempDir(), "/tmp"} {
		if root == "" || len(root) > 60 {
			continue
		}
		path := filepath.Join(root, fmt.Sprintf("symmrepl-%d", os.Getuid()))
		err := os.Mkdir(path, 0o700)
		if err == nil || errors.Is(err, os.ErrExist) {
			err = private(path)
		}
		if err == nil {
			return path, nil
		}
		failed = errors.Join(failed, err)
	}
	return "", fmt.Errorf("no directory for the session's sockets: %w", failed)
}

// private refuses a directory that others could have made or can enter.
func private(path string) error {
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

// lock waits for the right to make and to remove what is in a directory: what has just been made and is not locked or listening yet must
// not be removed as abandoned. Closing the file gives the right back.
func lock(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
