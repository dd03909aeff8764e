package kernelcache

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// Cache is a folder of entries. Its methods may be called from any goroutine.
type Cache struct {
	dir  string
	note string
}

// Open returns the cache for a kind of entries: a folder of that name in $SYMMREPL_CACHE, or in the
// user's cache folder, or in the folder for temporary files. Because its contents are executed, a
// folder that others can change is skipped. If all are unsafe, the error gives the reason for each. A
// folder whose file system is full is skipped too, unless there is no other.
func Open(kind string, getenv func(string) string) (*Cache, error) {
	named := getenv("SYMMREPL_CACHE")
	root := named
	if root == "" {
		if user, err := os.UserCacheDir(); err == nil {
			root = filepath.Join(user, "symmrepl")
		}
	}
	var failed []error
	var crowded *Cache
	for _, root := range []string{root, filepath.Join(os.TempDir(), "symmrepl-"+strconv.Itoa(os.Getuid()))} {
		if root == "" {
			continue
		}
		dir, err := usable(filepath.Join(root, kind))
		if err == nil {
			c := &Cache{dir: dir}
			if err := room(dir); err != nil {
				crowded = cmp.Or(crowded, c)
				failed = append(failed, err)
				continue
			}
			if named != "" && len(failed) > 0 {
				c.note = fmt.Sprintf("SYMMREPL_CACHE is not used: %v; compiled kernels are kept in %s", failed[0], dir)
			}
			return c, nil
		}
		failed = append(failed, err)
	}
	if crowded != nil {
		return crowded, nil // it may have entries
	}
	return nil, errors.Join(failed...)
}

// Note returns a remark if the folder in SYMMREPL_CACHE is not used, with the reason and the folder
// that is used instead; "" otherwise.
func (c *Cache) Note() string { return c.note }

// Key returns a name that identifies the fields.
func Key(fields ...string) string {
	h := sha256.New()
	for _, f := range fields {
		fmt.Fprintf(h, "%d:%s", len(f), f)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Path returns the path of the entry with a name, whether it exists or not.
func (c *Cache) Path(name string) string { return filepath.Join(c.dir, name) }

// building is the prefix of the folders in which entries are built.
const building = "new-"

// Entry returns the path of the entry with a name, which contains a Key.
//
// If there is no such entry, or it was changed after it was built, or valid returns false for it,
// build makes it: a file or a folder at the path that build gets. valid may be nil. An error of
// build is returned unchanged, but for what to do if there was no room; other errors concern the folder.
func (c *Cache) Entry(name string, valid func(path string) bool, build func(path string) error) (path string, err error) {
	defer func() {
		if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EROFS) {
			err = fmt.Errorf("%w: compiled kernels are kept there; SYMMREPL_CACHE names a folder with more room", err)
		}
	}()
	path = c.Path(name)
	if c.found(name, valid) {
		return path, nil
	}
	unlock, err := c.lock(name)
	if err != nil {
		return "", err
	}
	defer unlock()
	if c.found(name, valid) {
		return path, nil // another process built it while this one waited
	}
	temp, err := os.MkdirTemp(c.dir, building)
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temp)
	made := filepath.Join(temp, name)
	if err := build(made); err != nil {
		return "", err
	}
	if err := hide(made); err != nil {
		return "", err
	}
	if err := c.install(made, name); err != nil {
		return "", err
	}
	c.prune(maxEntries)
	return path, nil
}

// Has reports whether there is an entry with a name that was not changed after it was built, and
// marks it as used.
func (c *Cache) Has(name string) bool { return c.found(name, nil) }

// found reports whether an entry exists unchanged, and marks it as used.
func (c *Cache) found(name string, valid func(path string) bool) bool {
	path := c.Path(name)
	if got, err := digest(path); err != nil || got != c.sum(name) || valid != nil && !valid(path) {
		return false
	}
	now := time.Now()
	os.Chtimes(path, now, now)
	return true
}

// hide makes a file, or a folder with its contents, inaccessible to others. Nothing is flushed to
// disk, which takes long beside other writers: what a crash of the machine cuts off does not match
// its digest.
func hide(path string) error {
	return filepath.WalkDir(path, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return os.Chmod(path, 0o600)
	})
}

// lock makes this process the only one that builds the entry with a name. The lock files are few
// and permanent: several names share one, which sometimes causes a wait.
func (c *Cache) lock(name string) (unlock func() error, err error) {
	dir := filepath.Join(c.dir, "locks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, name[:2]), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if err == nil {
			return f.Close, nil
		}
		if !errors.Is(err, syscall.EINTR) {
			f.Close()
			return nil, &fs.PathError{Op: "flock", Path: f.Name(), Err: err}
		}
	}
}
