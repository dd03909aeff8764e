package symmemtest

import (
	"github.com/symmrepl/symmrepl/symmem"
)

// testCase is run by all ranks at once.
type testCase struct {
	name string
	min  int  // ranks it needs
	many bool // worth running with more than four
	run  func(*T)
}

var cases = []testCase{
	{"Tensor", 1, false, tensorCase},
	{"Ring", 2, true, ringCase},
	{"AllReduce", 1, true, allReduceCase},
}

func tensorCase(t *T) {
	x := symmem.Local(symmem.F32, 3, 4)
	t.equal("zeros", x.Ints(), make([]int, 12))
	x.Fill(2.5)
	t.equal("filled", x.Float64s(), []float64{2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5})
}

func ringCase(t *T) {
	x := symmem.Empty(symmem.I32, 8)
	h := symmem.Rendezvous(x)
	right, left := (t.rank+1)%t.size, (t.rank+t.size-1)%t.size
	h.Put(right, symmem.Local(symmem.I32, 8).Fill(100+t.rank))
	h.PutSignal(right, 0)
	h.WaitSignal(left, 0)
	t.equal("ring", x.Ints()[0], 100+left)
	h.Barrier(0)
	x.Free()
}

func allReduceCase(t *T) {
	x := symmem.Empty(symmem.F32, 1000)
	symmem.Rendezvous(x)
	x.Fill(t.rank + 1)
	y := symmem.OneShotAllReduce(x, "sum")
	want := t.size * (t.size + 1) / 2
	for i, v := range y.Ints() {
		if v != want {
			t.Fatalf("element %d is %d, want %d", i, v, want)
		}
	}
	x.Free()
}
