package symmemtest

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/symmem"
)

// multimemOff checks, if multicast is off, that all multimem operations are refused with the
// reason.
func (t *T) multimemOff() bool {
	c := symmem.Caps()
	if c.Multicast {
		return false
	}
	x, y := symmem.Empty(symmem.F32, 8), symmem.Empty(symmem.F32, 8*t.size)
	symmem.Rendezvous(x)
	symmem.Rendezvous(y)
	out := symmem.Local(symmem.F32, 8)
	for op, f := range map[string]func(){
		"multimem_all_reduce":          func() { symmem.MultimemAllReduce(x, "sum") },
		"multimem_one_shot_all_reduce": func() { symmem.MultimemOneShotAllReduce(x, "sum"); symmem.MultimemOneShotAllReduceOut(x, "sum", out) },
		"multimem_one_shot_reduce":     func() { symmem.MultimemOneShotReduceOut(x, "sum", 0, out) },
		"multimem_all_gather":          func() { symmem.MultimemAllGatherOut(x, y) },
	} {
		t.refused(symmem.KindMisuse, f, op, "NVLink multicast is off: "+c.MulticastWhy)
	}
	x.Free()
	y.Free()
	return true
}

func multimemCase(t *T) {
	if t.multimemOff() {
		return
	}
	for k, d := range []symmem.DType{symmem.BF16, symmem.F32, symmem.F16} {
		word := 4 / d.Size()
		for i, n := range []int{0, word, 7 * word, 63 * word, 2048 * word, 2049 * word, 4096 + word} {
			offset := []int{0, word, 2 * word, 4 * word}[(k+i)%4]
			x, y := symmem.Empty(d, n+8), symmem.Empty(d, t.size*n+8)
			symmem.Rendezvous(x)
			symmem.Rendezvous(y)
			fill := func() *symmem.Tensor {
				values := make([]int, n+8)
				for i := range values {
					values[i] = (t.rank + 1) * (i % 7)
				}
				return x.CopyFrom(values).Slice(offset, offset+n)
			}
			op, scale := "sum", t.size*(t.size+1)/2
			if i%2 == 1 && t.size%2 == 1 {
				op, scale = "avg", (t.size+1)/2
			}
			want, place := make([]int, n), slices.Repeat([]int{-1}, t.size*n+8)
			for i := range want {
				want[i] = scale * ((offset + i) % 7)
				for r := range t.size {
					place[word+r*n+i] = (r + 1) * ((offset + i) % 7)
				}
			}
			what := fmt.Sprint(d, " ", op, n, " at ", offset, ": ")
			t.equal(what+"one shot", symmem.MultimemOneShotAllReduce(fill(), op).Ints(), want)
			out := symmem.Local(d, n).Fill(-5)
			symmem.MultimemOneShotReduceOut(fill(), op, t.size-1, out)
			if t.rank == t.size-1 {
				t.equal(what+"the root", out.Ints(), want)
			} else {
				t.equal(what+"not the root", out.Ints(), slices.Repeat([]int{-5}, n))
			}
			symmem.MultimemAllGatherOut(fill(), y.Fill(-1).Slice(word, word+t.size*n))
			t.equal(what+"all-gather", y.Ints(), place)
			symmem.MultimemAllReduce(fill(), op)
			got := x.Ints()
			t.equal(what+"in place", got[offset:offset+n], want)
			for i, v := range got {
				if (i < offset || i >= offset+n) && v != (t.rank+1)*(i%7) {
					t.Fatalf("%sthe guard at %d became %d", what, i-offset, v)
				}
			}
			g := symmem.Capture(func() { symmem.MultimemOneShotAllReduceOut(x.Slice(offset, offset+n), "sum", out) })
			fill()
			g.Replay()
			for i, v := range out.Ints() {
				if w := t.size * (t.size + 1) / 2 * ((offset + i) % 7); v != w {
					t.Fatalf("%sreplayed: element %d is %d, want %d", what, i, v, w)
				}
			}
			g.Free()
			x.Free()
			y.Free()
		}
	}
}

// multimemOrderCase: the switch adds in f32.
func multimemOrderCase(t *T) {
	if t.multimemOff() {
		return
	}
	x := symmem.Empty(symmem.BF16, 40)
	symmem.Rendezvous(x)
	fill := func() *symmem.Tensor { return x.Fill([]int{256, 1, 1, 1}[min(t.rank, 3)]) }
	t.equal("one shot", symmem.MultimemOneShotAllReduce(fill(), "sum").Ints(), slices.Repeat([]int{260}, 40))
	t.equal("in place", symmem.MultimemAllReduce(fill(), "sum").Ints(), slices.Repeat([]int{260}, 40))
	explained := symmem.Explain(func() { symmem.MultimemAllReduce(fill(), "sum"); symmem.MultimemOneShotAllReduce(fill(), "sum") })
	t.equal("lines of Explain by multicast", strings.Count(explained, ": multicast, because "), 2)
	x.Free()
}

func multimemMisuseCase(t *T) {
	if t.multimemOff() {
		return
	}
	misuse := symmem.KindMisuse
	x := symmem.Empty(symmem.BF16, 8)
	t.refused(misuse, func() { symmem.Capture(func() { symmem.MultimemAllReduce(x, "sum") }) }, "multimem_all_reduce", "was not rendezvoused")
	symmem.Rendezvous(x)
	t.refused(misuse, func() { symmem.MultimemAllReduce(x.Slice(1, 5), "sum") }, "multiple of 4 bytes")
	t.refused(misuse, func() { symmem.MultimemAllReduce(x.Slice(0, 5), "sum") }, "multiple of 4 bytes")
	t.refused(misuse, func() { symmem.MultimemAllReduce(x, "max") }, "not max of bf16", "use AllReduce")
	t.refused(misuse, func() { symmem.MultimemOneShotReduceOut(x, "sum", t.size, symmem.Local(symmem.BF16, 8)) }, "root must be in [0")
	t.refused(misuse, func() { symmem.MultimemOneShotReduceOut(x, "sum", -1, symmem.Local(symmem.BF16, 8)) }, "root must be in [0")
	t.refused(misuse, func() { symmem.MultimemOneShotAllReduceOut(x, "sum", x) }, "overlaps")
	ordinary := symmem.Local(symmem.BF16, 8*t.size)
	t.refused(misuse, func() { symmem.Capture(func() { symmem.MultimemAllGatherOut(x, ordinary) }) }, "multimem_all_gather", "not symmetric")
	t.equal("gathered", symmem.MultimemAllReduce(ordinary.Fill(1), "sum").Ints(), slices.Repeat([]int{t.size}, 8*t.size))
	symmem.MultimemAllGatherOut(x.Fill(t.rank), ordinary)
	t.equal("gathered", ordinary.Ints(), each(8*t.size, func(i int) int { return i / 8 }))
	t.refused(misuse, func() { symmem.MultimemAllGatherOut(x, symmem.Local(symmem.BF16, 8*t.size+8)) }, "expected out shape")
	x.Free()
}

// multicastCapsCase checks Caps against the variables that switch multicast off.
func multicastCapsCase(t *T) {
	c := symmem.Caps()
	t.equal("a reason", c.MulticastWhy == "", c.Multicast)
	if os.Getenv("SYMMREPL_DISABLE_MULTICAST") == "1" && c.Multicast {
		t.Errorf("multicast is on though it was disabled")
	}
}
