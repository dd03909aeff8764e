package kernelcache

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// usable makes the folder if it is missing and returns its path without symbolic links. The folder
// must belong to this user, and no one else may be able to write to it or to replace it.
func usable(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	if err := closed(dir, info); err != nil {
		return "", err
	}
	for above := filepath.Dir(dir); ; above = filepath.Dir(above) {
		if err := keeps(above); err != nil {
			return "", fmt.Errorf("%s: %w", dir, err)
		}
		if above == filepath.Dir(above) {
			break
		}
	}
	if err := syscall.Access(dir, 2 /* W_OK */); err != nil {
		return "", &fs.PathError{Op: "access", Path: dir, Err: err}
	}
	return dir, nil
}

// leastRoom is the room that a folder must have for new entries, in bytes: a precompiled header takes
// the most.
const leastRoom = 64 << 20

// room returns an error if the file system of a folder is full.
func room(dir string) error {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return &fs.PathError{Op: "statfs", Path: dir, Err: err}
	}
	if free := s.Bavail * uint64(s.Bsize); s.Blocks > 0 && free < leastRoom {
		return fmt.Errorf("%s: its file system is full: %d KiB are free, and compiled kernels need %d", dir, free>>10, leastRoom>>10)
	}
	return nil
}

// closed returns an error for a file or folder that another user owns or may write to.
func closed(path string, info fs.FileInfo) error {
	if owner := ownerOf(info); owner != os.Getuid() {
		return fmt.Errorf("%s: it belongs to user %d, and its code would run as user %d", path, owner, os.Getuid())
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s: others may write to it (its mode is %s; chmod go-w makes it safe)", path, info.Mode())
	}
	return nil
}

// keeps returns an error for a folder in which another user can replace this user's files: it must
// belong to this user or to the system, and if others may write to it, it must have the sticky bit.
func keeps(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSticky == 0 {
		return fmt.Errorf("others may rename files in %s (its mode is %s; chmod go-w makes it safe)", dir, info.Mode())
	}
	owner := ownerOf(info)
	if owner == os.Getuid() || owner == 0 {
		return nil
	}
	// In a user namespace, the system's folders belong to a user outside of it.
	if root, err := os.Lstat("/"); err == nil && owner == ownerOf(root) {
		return nil
	}
	return fmt.Errorf("%s belongs to user %d, who can rename files in it", dir, owner)
}

func ownerOf(info fs.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Uid) }
