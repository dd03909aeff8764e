package userdir

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// runtimeDir makes a short directory the root of the user's.
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

// The directory of sessions must be this user's alone.
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
	for path, want := range map[string]bool{live.Path: true, dead.Path: false, young: true, listens: true, silent: false} {
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
}
