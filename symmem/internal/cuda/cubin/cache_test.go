package cubin

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func folder(t testing.TB) cache {
	t.Helper()
	root := t.TempDir()
	return openCache(func(name string) string { return map[string]string{"SYMMREPL_CACHE": root}[name] })
}

func TestEntries(t *testing.T) {
	c := folder(t)
	if _, ok := c.get("00"); ok {
		t.Error("an empty cache has an entry")
	}
	want := Binary{Cubin: []byte{0, 1, 2, '\n', 255}, Lowered: map[string]string{"a::k": "_ZN1a1kEv"}}
	c.put("00", want)
	got, ok := c.get("00")
	if !ok || !slices.Equal(got.Cubin, want.Cubin) || !maps.Equal(got.Lowered, want.Lowered) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestPrune(t *testing.T) {
	c := folder(t)
	for i := range 9 {
		key := fmt.Sprintf("%02d", i)
		c.put(key, Binary{})
		at := time.Unix(int64(1000+i), 0)
		if err := os.Chtimes(c.path(key), at, at); err != nil {
			t.Fatal(err)
		}
	}
	c.get("00") // used just now
	c.lock("00")()
	c.prune(8) // nine entries and a folder: six stay
	var left []string
	files, err := os.ReadDir(c.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		left = append(left, f.Name())
	}
	if got, want := strings.Join(left, " "), "00 04 05 06 07 08 locks"; got != want {
		t.Errorf("%s stay, want %s", got, want)
	}
}

func TestLock(t *testing.T) {
	c := folder(t)
	unlock := c.lock("00ff")
	got := make(chan bool)
	go func() {
		defer c.lock("00aa")()
		got <- true
	}()
	select {
	case <-got:
		t.Fatal("two hold the lock")
	case <-time.After(20 * time.Millisecond):
	}
	unlock()
	select {
	case <-got:
	case <-time.After(time.Minute):
		t.Fatal("the lock is not free after it was unlocked")
	}
}

// TestUnsafeFolder: a folder that others may write to is not used: what lies there is run.
func TestUnsafeFolder(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "cubin")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	c := openCache(func(string) string { return root })
	if strings.HasPrefix(c.dir, root) || !c.usable() {
		t.Errorf("the cache is at %q", c.dir)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(encode(Binary{Cubin: []byte("code"), Lowered: map[string]string{"k": "_Z1kv"}}))
	f.Add(encode(Binary{}))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := decode(data)
		if err != nil {
			return
		}
		again, err := decode(encode(b))
		if err != nil || !slices.Equal(again.Cubin, b.Cubin) || !maps.Equal(again.Lowered, b.Lowered) {
			t.Errorf("%v became %v (%v)", b, again, err)
		}
	})
}

func FuzzDiagnose(f *testing.F) {
	f.Add("cell[3](7): error: identifier \"x\" is undefined\n  \tx = 1;\n  \t^\n\n1 error detected", "a\n\tx = 1;\n", 6)
	f.Add("cell[3](99999999999999999999): error: e\n", "", 1)
	f.Add("ptxas fatal   : Ptx assembly aborted due to errors", "x", 1)
	f.Fuzz(func(t *testing.T, log, text string, line int) {
		for _, d := range diagnose(log, Unit{Name: "cell[3]", Line: line, Text: text}) {
			if d.Column < 0 || strings.Contains(d.Text, "\n") || strings.Contains(d.Source, "\n") {
				t.Errorf("%q gives %+v", log, d)
			}
			_ = d.String()
		}
	})
}
