package userdir

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// names is the number of names that the user's directory may have in one place. In a place such as
// /tmp another user can make a directory with the first name, by accident or on purpose; all of
// this user's processes then use the next name.
const names = 20

// candidates returns the paths that the user's directory may have, best first. They are short,
// because paths of sockets are limited to about 100 bytes.
func candidates() []string { return below(os.Getenv("XDG_RUNTIME_DIR"), os.TempDir(), "/tmp") }

// below returns the paths that the user's directory may have in roots. Empty and long roots do not
// count.
func below(roots ...string) []string {
	var paths []string
	for _, root := range roots {
		if root == "" || len(root) > 60 {
			continue
		}
		first := filepath.Join(root, fmt.Sprintf("symmrepl-%d", os.Getuid()))
		if slices.Contains(paths, first) {
			continue
		}
		paths = append(paths, first)
		for n := 1; n < names; n++ {
			paths = append(paths, fmt.Sprintf("%s-%d", first, n))
		}
	}
	return paths
}

// Base finds or makes the user's directory.
func Base() (string, error) { return first(candidates()) }

// first finds or makes the first of paths that can be the user's directory.
func first(paths []string) (string, error) {
	var failed error
	for _, path := range paths {
		err := os.Mkdir(path, 0o700)
		if err == nil || errors.Is(err, os.ErrExist) {
			err = private(path)
		}
		if err == nil {
			return path, nil
		}
		failed = cmp.Or(failed, err)
	}
	return "", fmt.Errorf("no directory for the session's files: %w (XDG_RUNTIME_DIR names another place for them)", failed)
}

// bases lists the user's directories in the place of Base: more than one if another user took the
// name while processes lived.
func bases() []string {
	base, err := Base()
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(candidates(),
		func(path string) bool { return filepath.Dir(path) != filepath.Dir(base) || private(path) != nil })
}

// private refuses a directory that others could have made or can enter.
func private(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	owner := info.Sys().(*syscall.Stat_t).Uid
	if !info.IsDir() || int(owner) != os.Getuid() || info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s is not a directory of user %d that is closed to others (it is %s of user %d); remove it", path,
			os.Getuid(), info.Mode(), owner)
	}
	return nil
}

// lock waits for the lock that protects making and removing entries of a directory: a new entry
// that is not locked or listening yet must not be removed as abandoned. Closing the file releases
// the lock.
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
