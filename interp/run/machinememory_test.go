package run

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/petermattis/goid"
)

// TestMachineMemory checks that the kernel's files are understood.
func TestMachineMemory(t *testing.T) {
	free, total := availableMemory()
	if total < 64<<20 || free > total || free == 0 {
		t.Errorf("%d bytes of %d are free", free, total)
	}
	if n := numberAfter([]byte("inactive_anon 5\ninactive_file 17\n"), "inactive_file "); n != 17 {
		t.Errorf("got %d", n)
	}
}

// TestGoroutineNumber checks that the number of a goroutine is read from the place where this
// version of Go keeps it.
func TestGoroutineNumber(t *testing.T) {
	for range 2 {
		done := make(chan string)
		go func() {
			buf := make([]byte, 64)
			text := string(buf[:runtime.Stack(buf, false)])
			if want := fmt.Sprintf("goroutine %d ", goid.Get()); !strings.HasPrefix(text, want) {
				text = "want " + want + ", got " + text
			} else {
				text = ""
			}
			done <- text
		}()
		if text := <-done; text != "" {
			t.Error(text)
		}
	}
}
