package symmemtest

import (
	"math"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/symmrepl/symmrepl/symmem"
)

var reductions = []string{"sum", "avg", "max", "min"}

// reduced returns the reduction of the ranks' values, combined in rank order with rounding after
// every step. In a world that spans hosts the ranks of a host are combined first.
func (t *T) reduced(d symmem.DType, op string, values []float64) float64 {
	return grouped(d, op, values, hostsOf(t.size))
}

// hostsOf returns the ranks of the world by host. While this process has no world, they are all on
// one host.
func hostsOf(size int) [][]int {
	if os.Getenv(hostVariable) != "" {
		return hostsOfWorld()
	}
	all := make([]int, size)
	for r := range all {
		all[r] = r
	}
	return [][]int{all}
}

// hostsOfWorld asks once in a process, as expected values ask for every element.
var hostsOfWorld = sync.OnceValue(func() [][]int { return symmem.Caps().Hosts })

// grouped combines the values of each host in rank order, and then the results of the hosts.
func grouped(d symmem.DType, op string, values []float64, hosts [][]int) float64 {
	wrap := func(x float64) float64 {
		switch d {
		case symmem.I8:
			return float64(int8(int64(x)))
		case symmem.U8:
			return float64(uint8(int64(x)))
		}
		return x
	}
	step := rounded
	if d != symmem.F16 && d != symmem.BF16 && d != symmem.F32 && d != symmem.F64 {
		step = func(_ symmem.DType, x float64) float64 { return wrap(x) }
	}
	combine := func(acc, v float64) float64 {
		switch op {
		case "max":
			return max(acc, v)
		case "min":
			return min(acc, v)
		}
		return step(d, acc+v)
	}
	var acc float64
	for i, host := range hosts {
		sum := values[host[0]]
		for _, r := range host[1:] {
			sum = combine(sum, values[r])
		}
		if i == 0 {
			acc = sum
		} else {
			acc = combine(acc, sum)
		}
	}
	if op == "avg" {
		if acc /= float64(len(values)); d == symmem.F16 || d == symmem.BF16 || d == symmem.F32 || d == symmem.F64 {
			return rounded(d, acc)
		}
		return math.Trunc(acc)
	}
	return acc
}

// guard is written around results.
const guard = 77

// checkAllReduce reduces n elements at an offset of a tensor into a guarded place and into a fresh
// one.
func (t *T) checkAllReduce(x *symmem.Tensor, inputs [][]float64, op string, offset, n int) {
	d := x.DType()
	part := x.Slice(offset, offset+n)
	frame := symmem.Local(d, n+8).Fill(guard)
	symmem.OneShotAllReduceOut(part, op, frame.Slice(offset%4+1, offset%4+1+n))
	fresh := symmem.OneShotAllReduce(part, op)
	got, again := frame.Float64s(), fresh.Float64s()
	for i, v := range got {
		k := i - offset%4 - 1
		if k < 0 || k >= n {
			if v != guard {
				t.Fatalf("%v %s of %d at %d: the guard at %d became %v", d, op, n, offset, k, v)
			}
			continue
		}
		values := make([]float64, t.size)
		for p := range values {
			values[p] = inputs[p][offset+k]
		}
		if want := t.reduced(d, op, values); v != want || again[k] != want {
			t.Fatalf("%v %s of %d at %d: element %d of %v is %v and %v, want %v", d, op, n, offset, k, values, v, again[k], want)
		}
	}
	t.equal("the input", part.Float64s(), inputs[t.rank][offset:offset+n])
	fresh.Free()
}

// inputsOf fills every rank's tensor with values that all ranks can compute.
func (t *T) inputsOf(x *symmem.Tensor) [][]float64 {
	inputs := make([][]float64, t.size)
	scratch := symmem.Local(x.DType(), x.Numel())
	for p := range inputs {
		inputs[p] = scratch.Rand(1000 + p).Float64s()
	}
	x.Rand(1000 + t.rank)
	return inputs
}

func allReduceCase(t *T) {
	for _, d := range computing {
		x := symmem.Empty(d, 2200)
		symmem.Rendezvous(x)
		inputs := t.inputsOf(x)
		for _, op := range reductions {
			for _, n := range []int{0, 1, 2, 3, 7, 64, 1021, 2048} {
				t.checkAllReduce(x, inputs, op, 0, n)
			}
			for _, offset := range []int{1, 3, 16} {
				t.checkAllReduce(x, inputs, op, offset, 129)
			}
		}
		x.Free()
	}
}

// allReduceLargeCase reduces tensors that are large enough for the other kernel.
func allReduceLargeCase(t *T) {
	bytes := 20 << 10
	if symmem.GetBackend() != "CPU" {
		bytes = 1 << 20
	}
	for i, d := range computing {
		n := bytes / d.Size()
		x := symmem.Empty(d, n+16)
		symmem.Rendezvous(x)
		inputs := t.inputsOf(x)
		op := reductions[i%len(reductions)]
		t.checkAllReduce(x, inputs, op, 0, n+5)
		t.checkAllReduce(x, inputs, op, 1+i%3, n-i)
		x.Free()
	}
}

// allReduceOrderCase uses values whose result differs between rank order with rounding at every
// step and any other order or precision.
func allReduceOrderCase(t *T) {
	x := symmem.Empty(symmem.BF16, 8)
	symmem.Rendezvous(x)
	x.Fill([]int{256, 1, 1, 1}[min(t.rank, 3)])
	t.equal("sum", symmem.OneShotAllReduce(x, "sum").Ints(), slices.Repeat([]int{256}, 8))
	symmem.Synchronize()
	t.meet()
	x.Free()
}

// allReduceSpecialsCase checks the results for infinities and NaNs, by every algorithm for the
// types that are added by pairs.
func allReduceSpecialsCase(t *T) {
	inf, nan := math.Inf(1), math.NaN()
	values, of1 := []float64{1, 2, 3, 4, inf}, []float64{nan, inf, -inf, 4, -inf}
	results := map[string][]float64{"max": {nan, inf, 3, 4, inf}, "min": {nan, 2, -inf, 4, -inf},
		"sum": {nan, inf, -inf, float64(4 * t.size), nan}}
	if t.rank == 1 {
		values = of1
	}
	for _, d := range []symmem.DType{symmem.F16, symmem.BF16, symmem.F32, symmem.F64} {
		sizes := []int{5}
		if d.Size() == 2 {
			for _, bytes := range wayBytes() {
				sizes = append(sizes, bytes/2)
			}
		}
		for _, n := range sizes {
			x := symmem.Empty(d, n)
			symmem.Rendezvous(x)
			mine := slices.Repeat(values, n/5+1)[:n]
			for _, op := range []string{"sum", "max", "min"} {
				want := results[op]
				x.CopyFrom(mine)
				one := symmem.OneShotAllReduce(x, op)
				for way, got := range map[string][]float64{"one shot": one.Float64s(), "all_reduce": symmem.AllReduce(x, op).Float64s()} {
					for i, v := range got {
						if w := want[i%5]; v != w && (v == v || w == w) {
							t.Fatalf("%s of %d %v, %s: element %d is %v, want %v", way, n, d, op, i, v, w)
						}
					}
				}
				one.Free()
			}
			symmem.Synchronize()
			t.meet()
			x.Free()
		}
	}
	// Wide integers are combined as integers.
	y := symmem.Empty(symmem.I64, 2)
	symmem.Rendezvous(y)
	y.CopyFrom([]int64{1<<62 + 1, -1})
	sum := (1<<62 + 1) * t.size
	t.equal("i64", symmem.OneShotAllReduce(y, "sum").Ints(), []int{sum, -t.size})
	t.equal("i64 avg", symmem.OneShotAllReduce(y, "avg").Ints(), []int{sum / t.size, -1})
	u := symmem.Empty(symmem.U64, 1).Fill(uint64(1<<63 + uint64(t.rank)))
	symmem.Rendezvous(u)
	t.equal("u64 max", symmem.OneShotAllReduce(u, "max").As(symmem.I64).Ints(), []int{math.MinInt64 + t.size - 1})
	y.Free()
	u.Free()
}

// allReduceManyCase issues calls of changing sizes without waiting, while the input changes under
// them.
func allReduceManyCase(t *T) {
	x := symmem.Empty(symmem.I32, 3000)
	symmem.Rendezvous(x)
	const rounds = 60
	var results []*symmem.Tensor
	for i := range rounds {
		n := []int{1, 3000, 17, 512, 1025, 2}[i%6]
		x.Fill(i * (t.rank + 1))
		results = append(results, symmem.OneShotAllReduce(x.Slice(0, n), "sum"))
	}
	for i, r := range results {
		want := i * t.size * (t.size + 1) / 2
		for k, v := range r.Ints() {
			if v != want {
				t.Fatalf("call %d: element %d is %d, want %d", i, k, v, want)
			}
		}
	}
	// Symmetric memory may receive the result.
	y := symmem.Empty(symmem.I32, 3000)
	symmem.OneShotAllReduceOut(x, "max", y)
	t.equal("into symmetric memory", y.Slice(2998, 3000).Ints(), slices.Repeat([]int{(rounds - 1) * t.size}, 2))
	y.Free()
	x.Free()
}

func allReduceMisuseCase(t *T) {
	misuse := symmem.KindMisuse
	x := symmem.Empty(symmem.F32, 8)
	symmem.Rendezvous(x)
	t.refused(misuse, func() { symmem.OneShotAllReduce(x, "prod") }, `not "prod"`, "sum")
	t.refused(misuse, func() { symmem.OneShotAllReduceOut(x, "sum", symmem.Local(symmem.F32, 7)) }, "out is f32[7], the tensor is f32[8]")
	t.refused(misuse, func() { symmem.OneShotAllReduceOut(x, "sum", symmem.Local(symmem.F16, 8)) }, "f16[8]")
	t.refused(misuse, func() { symmem.OneShotAllReduceOut(x, "sum", x) }, "overlaps")
	t.refused(misuse, func() { symmem.OneShotAllReduceOut(x.Slice(0, 5), "sum", x.Slice(3, 8)) }, "overlaps")
	e4m3 := symmem.Empty(symmem.F8E4M3, 8)
	symmem.Rendezvous(e4m3)
	t.refused(misuse, func() { symmem.OneShotAllReduce(e4m3, "sum") }, "f8e4m3", "storage type")
	e4m3.Free()
	x.Free()
}

func allReduceTimeoutCase(t *T) {
	x := symmem.Empty(symmem.F32, 8).Fill(t.rank)
	symmem.Rendezvous(x)
	symmem.Synchronize() // Recover would drop pending work
	if t.rank == 0 {
		symmem.OneShotAllReduce(x, "sum", symmem.Timeout(100*time.Millisecond))
		t.refused(symmem.KindTimeout, symmem.Synchronize, "one_shot_all_reduce", "for data of rank", "must make the same call")
		t.refused(symmem.KindPeer, func() { symmem.OneShotAllReduce(x, "sum") }, "out of step")
	}
	symmem.Recover()
	t.equal("data", x.Ints(), slices.Repeat([]int{t.rank}, 8))
	for range 3 {
		t.equal("sum", symmem.OneShotAllReduce(x, "sum").Ints(), slices.Repeat([]int{t.size * (t.size - 1) / 2}, 8))
	}
	x.Free()
}
