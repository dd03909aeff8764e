package symmemtest

import (
	"os"

	"github.com/symmrepl/symmrepl/symmem"
)

// boundsCase: with the sanitizer on, every device finds a kernel's accesses outside of a tensor
// argument, names the line, and runs on. With the sanitizer off, no access is checked.
func boundsCase(t *T) {
	defer t.rt.Sanitize(os.Getenv(sanitizeVariable) != "", 0)
	t.rt.Sanitize(true, 0)
	x, shared := symmem.Local(symmem.I32, 32), symmem.Empty(symmem.I32, 16)
	h := symmem.Rendezvous(shared)
	k := symmem.CompileAt("cell[3]", 10, `__global__ void leave(int* x, int n, symm::Handle h) {
  x[(int)threadIdx.x - n] = 7;
  if (threadIdx.x == 2)
    h.buffer<int>(h.rank)[-n] = 8;
}`)
	launch := func(n int) []symmem.Finding {
		k.Launch(symmem.Grid(1), symmem.Block(4), x, n, h)
		symmem.Synchronize()
		return t.rt.Findings()
	}
	t.equal("what is found of right accesses", len(launch(0)), 0)
	t.equal("the tensor", x.Ints()[:5], []int{7, 7, 7, 7, 0})
	x.Fill(0)
	found := launch(1)
	if len(found) != 2 {
		t.Fatalf("found %v, want two", found)
	}
	for i, want := range []struct {
		memory, source string
		line, thread   int
	}{{"4 bytes in front of i32[32]", "  x[(int)threadIdx.x - n] = 7;", 11, 0},
		{"4 bytes in front of i32[16]", "    h.buffer<int>(h.rank)[-n] = 8;", 13, 2}} {
		f := found[i]
		a := f.Accesses[0]
		t.equal("the kind", f.Kind.String(), "out of bounds")
		t.equal("the memory", f.Memory, want.memory)
		t.equal("the kernel and its file", a.Kernel+" "+a.File, "leave cell[3]")
		t.equal("the line", a.Line, want.line)
		t.equal("its text", a.Source, want.source)
		t.equal("the bytes", a.Bytes, 4)
		t.equal("rank, block and thread", []int{a.Rank, a.Block[0], a.Thread[0]}, []int{t.rank, 0, want.thread})
	}
	t.equal("the tensor, whose other elements were written", x.Ints()[:4], []int{7, 7, 7, 0})
	t.equal("what is found once more", len(t.rt.Findings()), 0)
	t.rt.Sanitize(false, 0)
	t.equal("what is found without it", len(launch(0)), 0)
	t.meet()
	x.Free()
	shared.Free()
}
