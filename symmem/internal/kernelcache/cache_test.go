package kernelcache

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func open(t testing.TB) *Cache {
	t.Helper()
	root := t.TempDir()
	c, err := Open("kind", func(name string) string { return map[string]string{"SYMMREPL_CACHE": root}[name] })
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// write returns a function that builds a file of a text.
func write(text string) func(string) error {
	return func(path string) error { return os.WriteFile(path, []byte(text), 0o600) }
}

func never(string) error { return errors.New("it was built again") }

func TestEntry(t *testing.T) {
	c := open(t)
	failed := errors.New("no")
	if _, err := c.Entry("00", nil, func(string) error { return failed }); err != failed {
		t.Errorf("the error of build became %v", err)
	}
	path, err := c.Entry("00", nil, write("a"))
	if text, _ := os.ReadFile(path); err != nil || string(text) != "a" || path != c.Path("00") {
		t.Errorf("the entry is %q (%v)", text, err)
	}
	if again, err := c.Entry("00", nil, never); again != path || err != nil {
		t.Errorf("asked again, the entry is %s (%v)", again, err)
	}
	invalid := func(path string) bool {
		text, _ := os.ReadFile(path)
		return string(text) != "a"
	}
	path, err = c.Entry("00", invalid, write("b"))
	if text, _ := os.ReadFile(path); err != nil || string(text) != "b" {
		t.Errorf("in place of an entry of no use is %q (%v)", text, err)
	}
	path, err = c.Entry("folder", nil, func(path string) error {
		return errors.Join(os.Mkdir(path, 0o700), write("c")(filepath.Join(path, "file")))
	})
	if text, _ := os.ReadFile(filepath.Join(path, "file")); err != nil || string(text) != "c" {
		t.Errorf("the folder has %q (%v)", text, err)
	}
	if left, err := filepath.Glob(c.Path(building + "*")); len(left) > 0 || err != nil {
		t.Errorf("%v are left (%v)", left, err)
	}
}

func TestKey(t *testing.T) {
	keys := map[string]bool{Key(): true, Key(""): true, Key("ab"): true, Key("a", "b"): true, Key("b", "a"): true, Key("a", "b", ""): true}
	if len(keys) != 6 {
		t.Errorf("6 lists of fields have %d keys", len(keys))
	}
}

func TestPrune(t *testing.T) {
	c := open(t)
	for i := range 9 {
		key := fmt.Sprintf("%02d", i)
		if _, err := c.Entry(key, nil, write("")); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(int64(1000+i), 0)
		if err := os.Chtimes(c.Path(key), at, at); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Entry("00", nil, never); err != nil { // used just now
		t.Fatal(err)
	}
	for _, folder := range []string{"new-1", "new-2"} {
		if err := os.Mkdir(c.Path(folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-2 * abandoned)
	if err := os.Chtimes(c.Path("new-1"), old, old); err != nil {
		t.Fatal(err)
	}
	c.prune(8) // nine entries and folders: six stay
	var left []string
	files, err := os.ReadDir(c.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		left = append(left, f.Name())
	}
	if got, want := strings.Join(left, " "), "00 04 05 06 07 08 locks new-2"; got != want {
		t.Errorf("%s stay, want %s", got, want)
	}
}

func TestLock(t *testing.T) {
	c := open(t)
	unlock, err := c.lock("00ff")
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan error)
	go func() {
		unlock, err := c.lock("00aa")
		if err == nil {
			defer unlock()
		}
		got <- err
	}()
	select {
	case <-got:
		t.Fatal("two hold the lock")
	case <-time.After(20 * time.Millisecond):
	}
	unlock()
	select {
	case err := <-got:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the lock is not free after it was unlocked")
	}
}

// TestUnsafeFolder: a folder that others may write to is not used: what lies there is run.
func TestUnsafeFolder(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "kind")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	getenv := func(string) string { return root }
	c, err := Open("kind", getenv)
	if err != nil || strings.HasPrefix(c.dir, root) {
		t.Errorf("the cache is %v (%v)", c, err)
	}
	t.Setenv("TMPDIR", "/dev/null")
	if _, err := Open("kind", getenv); err == nil || !strings.Contains(err.Error(), dir+": others may write to it") {
		t.Errorf("without a folder the error is %v", err)
	}
}
