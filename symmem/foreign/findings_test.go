package foreign

import (
	"os"
	"testing"
)

// Each shadow of a process is a new one, which is gone when it is ended.
func TestShadow(t *testing.T) {
	for range 3 {
		name, end, err := Shadow()
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := Shadow()
		if content, failed := os.Stat(name); err != nil || again != name || failed != nil || content.Size() == 0 {
			t.Errorf("the shadow %s, and again %s: %v, %v", name, again, err, failed)
		}
		end()
		end()
		if content, err := os.Stat(name); err == nil && content.Size() > 1<<40 {
			t.Errorf("%s is still there", name)
		}
	}
}
