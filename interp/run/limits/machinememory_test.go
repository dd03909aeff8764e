package limits

import "testing"

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
