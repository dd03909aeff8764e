package procfs

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestStarved(t *testing.T) {
	dir := t.TempDir()
	for thread, text := range map[string]string{"1": "5 1000000 7\n", "2": "0 2000000 1\n", "3": "", "4": "none"} {
		os.Mkdir(filepath.Join(dir, thread), 0o755)
		if err := os.WriteFile(filepath.Join(dir, thread, "schedstat"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := starved(dir); got != 3*time.Millisecond {
		t.Errorf("%v", got)
	}
	if got := starved(filepath.Join(dir, "none")); got != 0 {
		t.Errorf("%v without threads", got)
	}
	if before := Starved(); Starved() < before {
		t.Error("the time goes backwards")
	}
}
