package symmemtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/symmem"
)

// collective is an operation with its result, in i32, by the inputs of all ranks: element i of rank
// r is at(r, i). It leaves its result in the tensor that it returns.
type collective struct {
	name  string
	rows  int  // the input has rows times so many elements for each rank
	hosts bool // it goes over hosts
	call  func(t *T, x *symmem.Tensor, out func(shape ...int) *symmem.Tensor, opts ...symmem.Option) *symmem.Tensor
	want  func(t *T, n, i int, at func(r, i int) int) int // of an input of n elements
}

// sumOf adds the members' elements.
func sumOf(t *T, i int, at func(r, i int) int) (sum int) {
	for r := range t.size {
		sum += at(r, i)
	}
	return sum
}

// collectives are all dense ones.
func collectives(t *T) []collective {
	sum := func(t *T, n, i int, at func(r, i int) int) int { return sumOf(t, i, at) }
	gather := func(t *T, n, i int, at func(r, i int) int) int { return at(i/n, i%n) }
	part := func(t *T, n, i int, at func(r, i int) int) int { return sumOf(t, t.rank*(n/t.size)+i, at) }
	exchange := func(t *T, n, i int, at func(r, i int) int) int {
		return at(i/(n/t.size), t.rank*(n/t.size)+i%(n/t.size))
	}
	return []collective{
		{"all_reduce", 0, true, func(t *T, x *symmem.Tensor, out func(...int) *symmem.Tensor, opts ...symmem.Option) *symmem.Tensor {
			return symmem.AllReduce(x, "sum", opts...)
		}, sum},
		{"one_shot_all_reduce", 0, false, func(t *T, x *symmem.Tensor, out func(...int) *symmem.Tensor, opts ...symmem.Option) *symmem.Tensor {
			return symmem.OneShotAllReduce(x, "sum", opts...)
		}, sum},
		{"one_shot_all_reduce out", 0, false, func(t *T, x *symmem.Tensor, out func(...int) *symmem.Tensor, opts ...symmem.Option) *symmem.Tensor {
			y := out(x.Numel())
			symmem.OneShotAllReduceOut(x, "sum", y, opts...)
			return y
		}, sum},
		{"two_shot_all_reduce", 0, false, func(t *T, x *symmem.Tensor, out func(...int) *symmem.Tensor, opts ...symmem.Option) *symmem.Tensor {
			return symmem.TwoShotAllReduce(x, "sum", opts...)
		}, sum},
		{"two_shot_all_reduce out", 0, false, func(t *T, x *symmem.Tensor, out func(...int) *symmem.Tensor, opts ...symmem.Option) *symmem.Tensor {
			y := out(x.Numel())
			symmem.TwoShotAllReduceOut(x, "sum", y, opts...)
			return y
		}, sum},
		{"reduce_scatter", 1, true, func(t *T, x *symmem.Tensor, out func(...int) *symmem.Tensor, opts ...symmem.Option) *symmem.Tensor {
			return symmem.ReduceScatter(x, "sum", opts...)
		}, part},
		{"reduce_scatter_offset", 1, false, func(t *T, x *symmem.Tensor, out func(...int) *symmem.Tensor, opts ...symmem.Option) *symmem.Tensor {
			y := out(x.Numel()/t.size, 1)
			symmem.ReduceScatterOffset(x.View(-1, 1), []*symmem.Tensor{y}, 0, nil, nil, "sum", opts...)
			return y.View(-1)
		}, part},
		{"all_gather", 0, true, func(t *T, x *symmem.Tensor, out func(...int) *symmem.Tensor, opts ...symmem.Option) *symmem.Tensor {
			return symmem.AllGather(x, opts...)
		}, gather},
		{"all_gather out", 0, true, func(t *T, x *symmem.Tensor, out func(...int) *symmem.Tensor, opts ...symmem.Option) *symmem.Tensor {
			y := out(t.size * x.Numel())
			symmem.AllGatherOut(x, y, opts...)
			return y
		}, gather},
		{"all_to_all", 1, true, func(t *T, x *symmem.Tensor, out func(...int) *symmem.Tensor, opts ...symmem.Option) *symmem.Tensor {
			return symmem.AllToAll(x, opts...)
		}, exchange},
		{"all_to_all out", 1, true, func(t *T, x *symmem.Tensor, out func(...int) *symmem.Tensor, opts ...symmem.Option) *symmem.Tensor {
			y := out(x.Numel())
			symmem.AllToAllOut(x, y, opts...)
			return y
		}, exchange},
		{"all_to_all_permute", 1, false, func(t *T, x *symmem.Tensor, out func(...int) *symmem.Tensor, opts ...symmem.Option) *symmem.Tensor {
			y := out(x.Numel()/t.size, t.size)
			symmem.AllToAllPermute(x.View(-1, 1), y, 0, 1, opts...)
			return y.View(-1)
		}, func(t *T, n, i int, at func(r, i int) int) int { return at(i%t.size, t.rank*(n/t.size)+i/t.size) }},
		{"broadcast", 0, true, func(t *T, x *symmem.Tensor, out func(...int) *symmem.Tensor, opts ...symmem.Option) *symmem.Tensor {
			return symmem.Broadcast(x, t.size-1, opts...)
		}, func(t *T, n, i int, at func(r, i int) int) int { return at(t.size-1, i) }},
	}
}

// operandsCase calls every collective with tensors that were not rendezvoused, and with ordinary ones
// for the input, the output and both, of random sizes and at random offsets: the result is that of
// the model, what surrounds it keeps its values, and the next call needs nothing new.
func operandsCase(t *T) {
	far := len(symmem.Caps().Hosts) > 1
	same := rand.New(rand.NewPCG(7, uint64(t.size))) // the same on all ranks
	for k, c := range collectives(t) {
		if far && !c.hosts {
			continue
		}
		for form, kinds := range [][2]bool{{true, true}, {false, true}, {true, false}, {false, false}} { // symmetric: input, output
			for _, most := range []int{50, 60_000} {
				n := 1 + same.IntN(most)
				if c.rows > 0 {
					n = (n/t.size + 1) * t.size
				}
				before, after := same.IntN(4), 1+same.IntN(4)
				name := fmt.Sprint(c.name, " of ", n, " at ", before, ", form ", form)
				at := func(r, i int) int { return (r+1)*(k+1) + i%11 }
				made := func(symmetric bool, n int) *symmem.Tensor {
					if symmetric {
						return symmem.Empty(symmem.I32, before+n+after).Fill(-1)
					}
					return symmem.Local(symmem.I32, before+n+after).Fill(-1)
				}
				x := made(kinds[0], n)
				part := x.Slice(before, before+n).CopyFrom(each(n, func(i int) int { return at(t.rank, i) }))
				var whole *symmem.Tensor
				out := func(shape ...int) *symmem.Tensor {
					m := 1
					for _, d := range shape {
						m *= d
					}
					if whole == nil {
						whole = made(kinds[1], m)
					}
					return whole.Slice(before, before+m).View(shape...)
				}
				var got []int
				for range 2 { // the second call finds everything in place, unless it is its own input
					got = c.call(t, part, out).Ints()
					if c.name == "all_reduce" || c.name == "two_shot_all_reduce" || c.name == "broadcast" {
						break
					}
				}
				want := each(len(got), func(i int) int { return c.want(t, n, i, at) })
				t.equal(name, got, want)
				for _, y := range []*symmem.Tensor{x, whole} {
					if y == nil {
						continue
					}
					all := y.Ints()
					t.equal(name+": what surrounds it", slices.Concat(all[:before], all[len(all)-after:]), slices.Repeat([]int{-1}, before+after))
				}
				if kinds[0] {
					x.Free()
				}
				if whole != nil && kinds[1] {
					whole.Free()
				}
			}
		}
	}
	// Explain says what was copied.
	x := symmem.Local(symmem.I32, t.size<<20).Fill(1)
	got := symmem.Explain(func() { symmem.ReduceScatter(x, "sum") })
	if !strings.Contains(got, "of a copy in symmetric memory, because ") ||
		!strings.Contains(got, fmt.Sprintf("; %d bytes of ordinary memory are copied", x.Bytes())) {
		t.Errorf("Explain says %q", got)
	}
	y := symmem.Empty(symmem.I32, 1<<20)
	if got := symmem.Explain(func() { symmem.AllReduce(y, "sum") }); strings.Contains(got, "cop") {
		t.Errorf("Explain says %q of a symmetric tensor", got)
	}
	symmem.AllReduce(x, "sum")
	t.equal("the sum", slices.Compact(x.Ints()), []int{t.size})
	if !far {
		small := symmem.Explain(func() { symmem.AllReduce(x.Slice(0, 4), "sum") })
		if strings.Contains(small, "copied") {
			t.Errorf("Explain says %q of a message that packets carry", small)
		}
	}
	y.Free()
}

// operandsOfGroupsCase rendezvouses by calls in several groups, on streams and for tensors of a
// pool. A tensor that another group has rendezvoused is refused where no group is given.
func operandsOfGroupsCase(t *T) {
	g := symmem.NewGroup(0, 1)
	x := symmem.Empty(symmem.I32, 1<<17).Fill(1 + t.rank)
	if g.Rank() >= 0 {
		t.equal("in the group", symmem.OneShotAllReduce(x, "sum", g).Slice(0, 2).Ints(), []int{3, 3})
		t.refused(symmem.KindMisuse, func() { symmem.OneShotAllReduce(x, "sum") }, "rendezvoused by group 0,1, not by world", "give that group")
		y := symmem.Local(symmem.I32, 1<<17).Fill(1 + t.rank)
		t.equal("ordinary", symmem.AllReduce(y, "max", g).Slice(0, 2).Ints(), []int{2, 2})
	}
	t.equal("in the world", symmem.OneShotAllReduce(x, "sum", symmem.World()).Slice(0, 2).Ints(), slices.Repeat([]int{t.size * (t.size + 1) / 2}, 2))
	a, b := symmem.NewStream(), symmem.NewStream()
	y := []*symmem.Tensor{symmem.Local(symmem.I32, 1<<17), symmem.Local(symmem.I32, 1<<17)}
	symmem.Synchronize()
	for i := range 6 { // both use the same memory
		s := []*symmem.Stream{a, b}[i%2]
		symmem.OnStream(s, func() { symmem.AllReduce(y[i%2].Fill(i+t.rank), "sum") })
	}
	symmem.Synchronize()
	for i, z := range y {
		t.equal("on streams", slices.Compact(z.Ints()), []int{t.size*(4+i) + t.size*(t.size-1)/2})
	}
	a.Free()
	b.Free()
	p := pooled(symmem.I32, 1<<17).Fill(1)
	t.equal("of a pool", symmem.AllReduce(p, "sum").Slice(0, 1).Ints(), []int{t.size})
	p.Free()
	symmem.Synchronize()
	before := symmem.MemPoolStats()
	t.meet()
	g.Free() // with the memory that it kept for its calls
	x.Free()
	t.equal("the pool", symmem.MemPoolStats(), before)
}

// operandsRecoverCase: Recover gives the memory for ordinary tensors back, and calls make it anew.
func operandsRecoverCase(t *T) {
	x := symmem.Local(symmem.I32, 1<<18).Fill(2)
	symmem.AllReduce(x, "sum")
	held := symmem.Caps().Memory // the device's, which does not change
	symmem.Synchronize()
	symmem.Recover()
	t.equal("kept", slices.Compact(x.Ints()), []int{2 * t.size})
	t.equal("again", slices.Compact(symmem.AllReduce(x, "max").Ints()), []int{2 * t.size})
	t.equal("memory", symmem.Caps().Memory, held)
	for i := range 3 { // larger each time
		y := symmem.Local(symmem.I32, 1<<(18+i)).Fill(1)
		t.equal("larger", slices.Compact(symmem.AllReduce(y, "sum").Ints()), []int{t.size})
	}
}

// operandsMismatchCase: ranks that call different things are found out where a call would meet.
func operandsMismatchCase(t *T) {
	symmem.Recover() // which gives back the memory for ordinary tensors of earlier cases
	x := symmem.Empty(symmem.F32, 1<<18)
	t.refused(symmem.KindMismatch, func() {
		if t.rank == 0 {
			symmem.AllReduce(x, "sum")
		} else {
			symmem.Empty(symmem.U8, 1)
		}
	}, "rank 0: all_reduce f32[262144]", "rank 1: Empty u8[1]")
	n := t.size << 19 // parts that are not sent as packets
	y := symmem.Local(symmem.F32, n)
	t.refused(symmem.KindMismatch, func() {
		if t.rank == 0 {
			symmem.ReduceScatter(y, "sum")
		} else {
			symmem.Broadcast(y, 0)
		}
	}, fmt.Sprintf("rank 0: reduce_scatter f32[%d] of ordinary memory, copied to ", n), fmt.Sprintf("rank 1: broadcast f32[%d]", n))
	t.equal("afterwards", symmem.AllReduce(y.Fill(1), "sum").Slice(0, 1).Ints(), []int{t.size})
	x.Free()
}
