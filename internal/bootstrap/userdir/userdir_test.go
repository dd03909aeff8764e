package userdir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/symmrepl/symmrepl/internal/needs"
	"github.com/symmrepl/symmrepl/internal/shortdir"
)

// runtimeDir makes a directory with a short name the root of the user's directory.
func runtimeDir(t *testing.T) string {
	t.Helper()
	dir := shortdir.New(t)
	t.Setenv("XDG_RUNTIME_DIR", dir)
	return dir
}

// The directory of sessions must belong to this user alone.
func TestPrivateDirectory(t *testing.T) {
	root := runtimeDir(t)
	base := filepath.Join(root, fmt.Sprintf("symmrepl-%d", os.Getuid()))
	if got, err := Base(); err != nil || got != base {
		t.Errorf("%s, %v", got, err)
	}
	os.Chmod(base, 0o755)
	if err := private(base); err == nil || !strings.Contains(err.Error(), "closed to others") {
		t.Error(err)
	}
	os.Remove(base)
	os.Symlink(t.TempDir(), base)
	if err := private(base); err == nil {
		t.Error("a link was taken for a directory")
	}
}

// Directories and sockets of dead sessions are swept, those of live ones and young ones are not.
func TestSweep(t *testing.T) {
	runtimeDir(t)
	live, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer live.Remove()
	dead, err := New()
	if err != nil {
		t.Fatal(err)
	}
	dead.lock.Close()
	young := filepath.Join(filepath.Dir(live.Path), "syoung")
	os.Mkdir(young, 0o700)
	half := filepath.Join(filepath.Dir(live.Path), deadPrefix+"shalf") // its removal was cut short
	os.MkdirAll(filepath.Join(half, "rest"), 0o700)
	listens, silent := filepath.Join(filepath.Dir(live.Path), "jlive"), filepath.Join(filepath.Dir(live.Path), "jdead")
	for _, path := range []string{listens, silent} {
		l, err := Listen(path)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if path == silent { // as if its process had been killed
			l.UnixListener.Close()
		}
	}
	next, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer next.Remove()
	for path, want := range map[string]bool{live.Path: true, dead.Path: false, half: false, young: true, listens: true, silent: false} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// The last worker of a killed process removes the socket of its job too.
func TestAbandonedSocket(t *testing.T) {
	runtimeDir(t)
	dir, err := New()
	if err != nil {
		t.Fatal(err)
	}
	base := filepath.Dir(dir.Path)
	l, err := Listen(filepath.Join(base, "jx"))
	if err != nil {
		t.Fatal(err)
	}
	l.UnixListener.Close()
	dir.lock.Close()
	RemoveAbandoned(dir.Path, func() bool { return false })
	if left, _ := os.ReadDir(base); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	half := filepath.Join(base, deadPrefix+filepath.Base(dir.Path)) // as if a process had been killed that removed it
	os.MkdirAll(filepath.Join(half, "rest"), 0o700)
	RemoveAbandoned(dir.Path, func() bool { return false })
	if left, _ := os.ReadDir(base); len(left) > 0 {
		t.Errorf("left behind by another process: %v", left)
	}
}

// If another user has made the directory, or opened it to others, the processes of this user agree
// on another name, and find each other's sessions under all names.
func TestNameTaken(t *testing.T) {
	t.Run("opened", func(t *testing.T) { nameTaken(t, func(path string) error { return os.Chmod(path, 0o755) }) })
	t.Run("another user's", func(t *testing.T) {
		needs.Root(t, "it gives a folder to another user")
		nameTaken(t, func(path string) error { return os.Chown(path, 12345, 12345) })
	})
}

// nameTaken is TestNameTaken for a first name that take takes.
func nameTaken(t *testing.T, take func(path string) error) {
	root := runtimeDir(t)
	first := filepath.Join(root, fmt.Sprintf("symmrepl-%d", os.Getuid()))
	old, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer old.Remove()
	os.Mkdir(first+"-1", 0o755)
	if err := errors.Join(take(first), os.Chmod(first+"-1", 0o755)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got, err := Base(); err != nil || got != first+"-2" {
			t.Errorf("%s, %v", got, err)
		}
	}
	young, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer young.Remove()
	if live := Live(); !slices.Equal(live, []string{young.Path}) {
		t.Errorf("%v", live)
	}
	os.Chown(first, os.Getuid(), os.Getgid())
	os.Chmod(first, 0o700)
	if live := Live(); len(live) != 2 || !slices.Contains(live, old.Path) || !slices.Contains(live, young.Path) {
		t.Errorf("%v", live)
	}
}

// Listen takes the place of a dead socket of this user, and of nothing else. Close removes the socket
// that Listen has made, and nothing else.
func TestListen(t *testing.T) {
	dir := runtimeDir(t)
	defer syscall.Umask(syscall.Umask(0))
	path := filepath.Join(dir, "socket")
	file, link, folder := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "folder")
	os.WriteFile(file, []byte("text"), 0o600)
	os.Symlink("file", link)
	os.Mkdir(folder, 0o700)
	for _, path := range []string{file, link, folder} {
		if _, err := Listen(path); err == nil || !strings.Contains(err.Error(), "exists and is no socket") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if text, err := os.ReadFile(link); string(text) != "text" {
		t.Errorf("the file has %q (%v)", text, err)
	}
	var dead *Listener
	for range 2 {
		l, err := Listen(path)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Lstat(path); err != nil || info.Mode() != os.ModeSocket|0o600 {
			t.Errorf("the socket is %v (%v)", info, err)
		}
		if _, err := Listen(path); !errors.Is(err, ErrInUse) {
			t.Errorf("a second listener: %v", err)
		}
		l.UnixListener.Close()
		dead = l
	}
	os.Symlink("socket", filepath.Join(dir, "far"))
	if _, err := Listen(filepath.Join(dir, "far")); err == nil {
		t.Error("a link to a socket was taken for one")
	}
	os.Remove(path)
	os.WriteFile(path, []byte("text"), 0o600)
	dead.Close()
	if text, err := os.ReadFile(path); string(text) != "text" {
		t.Errorf("Close has removed a file (%v)", err)
	}
	os.Remove(path)
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is left (%v)", err)
	}
	if _, err := Listen(filepath.Join(dir, "none", "socket")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// A process that is ending may keep its lock for longer than RemoveAbandoned waits for others.
func TestEndsLate(t *testing.T) {
	runtimeDir(t)
	dir, err := New()
	if err != nil {
		t.Fatal(err)
	}
	RemoveAbandoned(dir.Path, func() bool { return false })
	if _, err := os.Stat(dir.Path); err != nil {
		t.Errorf("the directory of a live process: %v", err)
	}
	asked := 0
	RemoveAbandoned(dir.Path, func() bool {
		if asked++; asked == 3 {
			dir.lock.Close()
		}
		return true
	})
	if _, err := os.Stat(dir.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory of a process that ended late is left: %v", err)
	}
}
