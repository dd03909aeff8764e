package userdir

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// runtimeDir makes a directory with a short name the root of the user's directory.
func runtimeDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "s") // sockets have short names
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
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
			l.SetUnlinkOnClose(false)
			l.Close()
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
	l.SetUnlinkOnClose(false)
	l.Close()
	dir.lock.Close()
	RemoveAbandoned(dir.Path)
	if left, _ := os.ReadDir(base); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	half := filepath.Join(base, deadPrefix+filepath.Base(dir.Path)) // as if a process had been killed that removed it
	os.MkdirAll(filepath.Join(half, "rest"), 0o700)
	RemoveAbandoned(dir.Path)
	if left, _ := os.ReadDir(base); len(left) > 0 {
		t.Errorf("left behind by another process: %v", left)
	}
}

// If another user has made the directory, or opened it to others, the processes of this user agree
// on another name, and find each other's sessions under all names.
func TestNameTaken(t *testing.T) {
	root := runtimeDir(t)
	first := filepath.Join(root, fmt.Sprintf("symmrepl-%d", os.Getuid()))
	old, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer old.Remove()
	for n, path := range []string{first, first + "-1"} {
		os.Mkdir(path, 0o700)
		if os.Getuid() == 0 && n == 0 {
			err = os.Chown(path, 12345, 12345)
		} else {
			err = os.Chmod(path, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
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
