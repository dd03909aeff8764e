package procfs

import (
	"os"
	"path/filepath"
	"testing"
)

func TestOOMKills(t *testing.T) {
	for text, want := range map[string]uint64{
		"low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n": 2, // memory.events
		"oom_kill_disable 0\nunder_oom 0\noom_kill 5\n":                5, // memory.oom_control
		"nr_free_pages 7\n": 0,
	} {
		file := filepath.Join(t.TempDir(), "events")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := oomKills(file); got != want {
			t.Errorf("%q: %d", text, got)
		}
	}
	if n := oomKills("/nonexistent"); n != 0 {
		t.Errorf("%d of no file", n)
	}
	if before, after := OOMKills(), OOMKills(); after < before {
		t.Errorf("%d after %d", after, before)
	}
}
