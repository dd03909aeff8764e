//go:build linux && (amd64 || arm64)

package cpu

import (
	"debug/elf"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// The object of a kernel that waits does not contain the functions that are compiled once for all
// modules, and these are in the object that it is linked with.
func TestOnce(t *testing.T) {
	b := open(t)
	c := &b.Device.(*cpu).compiler
	if err := c.prepare(); err != nil {
		t.Skip(err)
	}
	const text = beginning + `__global__ void f(symm::Handle h) {
  symm::barrier(h, 0);
  if (threadIdx.x == 0) symm::put_signal(h, 1 - h.rank, 0), symm::wait_signal(h, 1 - h.rank, 0), symm::wait_for_signal(h, 0, 1, true);
  symm::put(h, 0, 0, nullptr, 0);
  symm::flush(h);
}
`
	for _, watched := range []bool{false, true} {
		object := filepath.Join(t.TempDir(), "f.o")
		flags := append(c.unitFlags(watched), "-I", c.headers)
		if err := c.compile(device.Source{Name: "c", Line: 1}, text, object, flags, "-o", object, "-"); err != nil {
			t.Fatal(err)
		}
		once, err := c.functions(watched)
		if err != nil {
			t.Fatal(err)
		}
		for _, function := range []string{"far_barrier", "far_put_signal", "far_wait_signal", "far_wait_for_signal", "post_far", "wait_posted",
			"4look", "8withdraw", "6loaded"} {
			if calls, defines := defined(t, object, function); !calls || defines {
				t.Errorf("watched %v: %s of the kernel: called %v, defined %v", watched, function, calls, defines)
			}
			if _, defines := defined(t, once, function); !defines {
				t.Errorf("watched %v: %s is not defined once", watched, function)
			}
		}
	}
}

// defined reports whether an object has a symbol whose name contains part of a function's, and whether
// it defines the symbol.
func defined(t *testing.T, object, function string) (found, defines bool) {
	t.Helper()
	f, err := elf.Open(object)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		if strings.Contains(s.Name, function) {
			found, defines = true, defines || s.Section != elf.SHN_UNDEF
		}
	}
	return found, defines
}
