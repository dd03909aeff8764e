package procfs

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// thread is a thread in the files of a test.
type thread struct{ state, numbers string }

func TestStarvation(t *testing.T) {
	dir := t.TempDir()
	s := Starvation{tasks: dir}
	start := time.Unix(1000, 0)
	for _, look := range []struct {
		after   time.Duration
		threads map[string]thread
		want    time.Duration
	}{
		{0, map[string]thread{"1": {"R", "5 1000000 7\n"}, "2": {"S", "0 2000000 1\n"}, "3": {"R", ""}, "4": {"R", "none"}}, 0},
		// 1 has had no turn, 2 wakes, 5 is new
		{100 * time.Millisecond, map[string]thread{"2": {"R", "0 2000000 1\n"}, "5": {"S", "9 3000000 2\n"}}, 103 * time.Millisecond},
		{150 * time.Millisecond, map[string]thread{}, 100 * time.Millisecond}, // 1 and 2
		// the kernel counts the wait of 1, of which 150 ms are counted already, and it has slept since
		{300 * time.Millisecond, map[string]thread{"1": {"S", "6 261000000 8\n"}, "2": {"R", "4 62000000 2\n"}}, 110*time.Millisecond + 10*time.Millisecond},
		// 2 runs
		{400 * time.Millisecond, map[string]thread{"2": {"R", "90 62000000 2\n"}}, 0},
		{500 * time.Millisecond, map[string]thread{"2": {"S", "91 62000000 2\n"}}, 0},
	} {
		for name, th := range look.threads {
			os.Mkdir(filepath.Join(dir, name), 0o755)
			stat := name + " (a) " + th.state + statLine[len("77 (a b) c) R"):]
			for file, text := range map[string]string{"stat": stat, "schedstat": th.numbers} {
				if err := os.WriteFile(filepath.Join(dir, name, file), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := s.look(start.Add(look.after)); got != look.want {
			t.Errorf("after %v: %v, want %v", look.after, got, look.want)
		}
	}
	none := Starvation{tasks: filepath.Join(dir, "none")}
	if got := none.Look(); got != 0 {
		t.Errorf("%v without threads", got)
	}
}
