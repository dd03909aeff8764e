// Package argstest compares the Go structs of kernels' arguments with what the C++ compiler says of the built-in kernels.
package argstest

import (
	"testing"

	"github.com/symmrepl/symmrepl/kernels"
	"github.com/symmrepl/symmrepl/symmem/internal/cpu"
	"github.com/symmrepl/symmrepl/symmem/internal/element"
)

// Check compares the sizes of the arguments of kernels, by operation, with those of the built-in ones. Every operation has a
// size in one of both: others has those that another package declares.
func Check(t *testing.T, sizes map[string]uintptr, others []string) {
	t.Helper()
	elsewhere := map[string]bool{}
	for _, op := range others {
		elsewhere[op] = true
	}
	dev, err := cpu.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	for _, file := range kernels.Files() {
		op := file.Operation()
		want, ok := sizes[op]
		if ok == elsewhere[op] {
			t.Errorf("the arguments of %s are to be declared in one package", file.Name)
			continue
		}
		if !ok {
			continue
		}
		names := []string{op}
		if _, err := dev.Builtin(op, 0); err != nil {
			names = names[:0]
			for d := element.F16; d <= element.U64; d++ {
				names = append(names, op+"_"+d.String())
			}
		}
		for _, name := range names {
			k, err := dev.Builtin(name, 0)
			if err != nil {
				t.Error(err)
				continue
			}
			if p := k.Params(); len(p) != 1 || p[0].Size != int(want) {
				t.Errorf("%s takes %+v, the struct here has %d bytes", name, p, want)
			}
		}
	}
}
