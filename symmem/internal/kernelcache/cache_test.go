package kernelcache

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/internal/needs"
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

// write returns a function that builds a file with a text.
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
	if _, err := c.Entry("00", nil, never); err != nil { // just used
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
	c.prune(8) // nine entries and folders: six are kept
	var left []string
	files, err := os.ReadDir(c.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		left = append(left, f.Name())
	}
	if got, want := strings.Join(left, " "), "00 04 05 06 07 08 locks new-2 sums"; got != want {
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

// TestUnsafeFolder checks that a folder that others may write to is not used, because its contents
// are executed.
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
	} else if !strings.Contains(c.Note(), dir+": others may write to it") || !strings.Contains(c.Note(), c.dir) {
		t.Errorf("it is noted: %q", c.Note())
	}
	t.Setenv("TMPDIR", "/dev/null")
	if _, err := Open("kind", getenv); err == nil || !strings.Contains(err.Error(), dir+": others may write to it") {
		t.Errorf("without a folder the error is %v", err)
	}
}

// TestHeal checks that a changed entry is built again.
func TestHeal(t *testing.T) {
	folder := func(path string) error {
		return errors.Join(os.Mkdir(path, 0o700), write("one")(filepath.Join(path, "a")), write("two")(filepath.Join(path, "b")))
	}
	for _, test := range []struct {
		name   string
		build  func(string) error
		damage func(path string) error
	}{
		{"cut file", write("library"), func(path string) error { return os.Truncate(path, 3) }},
		{"empty file", write("library"), func(path string) error { return os.Truncate(path, 0) }},
		{"other content", write("library"), func(path string) error { return os.WriteFile(path, []byte("planted"), 0o600) }},
		{"writable file", write("library"), func(path string) error { return os.Chmod(path, 0o666) }},
		{"link", write("library"), func(path string) error {
			return errors.Join(os.Rename(path, path+"-else"), os.Symlink(path+"-else", path))
		}},
		{"folder for a file", write("library"), func(path string) error { return errors.Join(os.Remove(path), folder(path)) }},
		{"emptied file of a folder", folder, func(path string) error { return os.Truncate(filepath.Join(path, "b"), 0) }},
		{"missing file of a folder", folder, func(path string) error { return os.Remove(filepath.Join(path, "a")) }},
		{"further file of a folder", folder, func(path string) error { return write("planted")(filepath.Join(path, "c")) }},
		{"missing digest", write("library"), func(path string) error {
			return os.Remove(filepath.Join(filepath.Dir(path), sums, filepath.Base(path)))
		}},
		{"another user's file", write("library"), func(path string) error {
			return os.Chown(path, 65534, 65534)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := open(t)
			path, err := c.Entry("00", nil, test.build)
			if err != nil {
				t.Fatal(err)
			}
			want, err := digest(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := test.damage(path); err != nil {
				if errors.Is(err, os.ErrPermission) {
					needs.Root(t, "it gives a file to another user")
				}
				t.Fatal(err)
			}
			again := 0
			if _, err := c.Entry("00", nil, func(path string) error { again++; return test.build(path) }); err != nil || again != 1 {
				t.Errorf("it was built %d times (%v)", again, err)
			}
			if got, err := digest(path); got != want {
				t.Errorf("it is not what was built (%v)", err)
			}
			if _, err := c.Entry("00", nil, never); err != nil {
				t.Errorf("what was built again is not found: %v", err)
			}
		})
	}
}

// TestRead checks that Read notices if a file changes after Entry.
func TestRead(t *testing.T) {
	c := open(t)
	path, err := c.Entry("00", nil, write("library"))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := c.Read("00"); string(text) != "library" || err != nil {
		t.Errorf("Read returns %q (%v)", text, err)
	}
	if err := os.Truncate(path, 3); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read("00"); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("of a cut file the error is %v", err)
	}
}

// TestOthersFolder checks that a folder that another user owns or can replace is refused with the
// reason.
func TestOthersFolder(t *testing.T) {
	for _, test := range []struct {
		name   string
		why    string
		damage func(root string) error
	}{
		{"another user's folder", "kind: it belongs to user 65534", func(root string) error { return os.Chown(filepath.Join(root, "kind"), 65534, -1) }},
		{"another user's folder above", " belongs to user 65534, who can rename files in it", func(root string) error { return os.Chown(root, 65534, -1) }},
		{"writable folder above", "others may rename files in", func(root string) error { return os.Chmod(root, 0o777) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := t.TempDir()
			if err := os.Mkdir(filepath.Join(root, "kind"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := test.damage(root); err != nil {
				if errors.Is(err, os.ErrPermission) {
					needs.Root(t, "it gives a folder to another user")
				}
				t.Fatal(err)
			}
			t.Setenv("TMPDIR", "/dev/null")
			c, err := Open("kind", func(string) string { return root })
			if err == nil || !strings.Contains(err.Error(), test.why) {
				t.Errorf("the cache is %v (%v), want an error that says %q", c, err, test.why)
			}
		})
	}
	root := t.TempDir()
	if err := os.Chmod(root, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	if c, err := Open("kind", func(string) string { return root }); err != nil || !strings.HasPrefix(c.dir, root) {
		t.Errorf("in a folder like /tmp the cache is %v (%v)", c, err)
	}
}
