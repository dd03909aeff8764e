package procfs

import (
	"os"
	"path/filepath"
	"testing"
)

func TestOOMKills(t *testing.T) {
	for _, c := range []struct {
		text string
		want uint64
		ok   bool
	}{
		{"low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n", 2, true}, // memory.events.local
		{"oom_kill_disable 0\nunder_oom 0\noom_kill 5\n", 5, true},                // memory.oom_control
		{"nr_free_pages 7\n", 0, false},
		{"oom_kill many\n", 0, false},
	} {
		file := filepath.Join(t.TempDir(), "events")
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, ok := oomKills(file); got != c.want || ok != c.ok {
			t.Errorf("%q: %d, %t", c.text, got, ok)
		}
	}
	if n, ok := oomKills("/nonexistent"); n != 0 || ok {
		t.Errorf("%d, %t of no file", n, ok)
	}
	if before, after := OOMKills(), OOMKills(); after < before {
		t.Errorf("%d after %d", after, before)
	}
}
