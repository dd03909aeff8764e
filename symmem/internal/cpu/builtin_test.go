//go:build linux && amd64

package cpu

import (
	"slices"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/kernels"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Every source file of an operation is in the program.
func TestBuiltins(t *testing.T) {
	b := open(t)
	names := b.Device.(*cpu).kernels
	for _, f := range kernels.Files() {
		op := strings.TrimSuffix(f.Name, ".cu")
		found := false
		for name := range names {
			found = found || name == op || strings.HasPrefix(name, op+"_")
		}
		if !found {
			t.Errorf("%s is not compiled in: builtin.cpp does not include it", f.Name)
		}
	}
	fill, err := b.Builtin("fill")
	if err != nil {
		t.Fatal(err)
	}
	const n = 1000
	p := b.alloc(2 * n)
	args := []uint64{uint64(p), n - 1, 0x3c00, 2}
	if err := b.stream.Launch(fill, device.Launch{Grid: [3]int{4, 1, 1}, Block: [3]int{64, 1, 1}, Args: bytesOf(args)}); err != nil {
		t.Fatal(err)
	}
	want := slices.Repeat([]uint16{0x3c00}, n)
	want[n-1] = 0
	if got := download[uint16](b, p, n); !slices.Equal(got, want) {
		t.Errorf("%#x", got)
	}
	if _, err := b.Builtin("no_such_operation"); err == nil {
		t.Error("an operation was found that does not exist")
	}
}
