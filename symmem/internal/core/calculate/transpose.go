package calculate

import (
	"fmt"
	"strings"

	"github.com/symmrepl/symmrepl/symmem/internal/element"
	"github.com/symmrepl/symmrepl/symmem/internal/expression"
)

// Transpose describes the kernels that copy an operand whose neighbours in memory are not neighbours in
// the result. Tiles go through shared memory, so that loads and stores are both contiguous.
type Transpose struct {
	Type  element.Type
	Batch int  // dimensions other than the two of the tiles
	Host  bool // for the cpu device, whose text has the kernel Single only
}

// Threads are the threads of a block of the kernels of transposes and reductions on a GPU, kThreads
// in calculate.cuh.
const Threads = 256

// tile is the number of rows and columns of a tile of the kernel Single. wide is the same for the
// kernel Wider, whose rows have 256 bytes, or 128 for the smallest types.
const tile = 32

func (t *Transpose) wide() int { return min(256/t.Type.Size(), 128) }

// onHost is the same for the kernel Single of the cpu device, whose rows have 128 bytes, two lines of a
// cache, which processors read together; or 64 for the smallest types.
func (t *Transpose) onHost() int { return min(128/t.Type.Size(), 64) }

// Tiling describes the launch of a transpose.
type Tiling struct {
	Kernel string
	Args   []uint64 // after the addresses of the result and the operand
	Tiles  int
}

// Plan finds the two dimensions in the layout of a map with one operand, which is Apart, and a Flat
// result. If wide is set, both addresses are multiples of 16, and Plan uses the kernel Wider if the
// shape and the strides permit it. ok is false if no dimension of the operand has neighbours in
// memory.
func (t *Transpose) Plan(l Layout, wide bool) (p Tiling, ok bool) {
	out, in := Strides(l.Dims), l.Strides[1]
	last := len(l.Dims) - 1
	other := -1
	for d, s := range in {
		if s == 1 && d != last {
			other = d
		}
	}
	if other < 0 || l.Dims[last] < 8 || l.Dims[other] < 8 {
		return Tiling{}, false
	}
	p.Args = []uint64{uint64(l.Dims[other]), uint64(l.Dims[last]), uint64(out[other]), uint64(in[last])}
	batch := 1
	for d, n := range l.Dims {
		if d == other || d == last {
			continue
		}
		p.Args = append(p.Args, uint64(n), uint64(out[d]), uint64(in[d]))
		batch *= n
		t.Batch++
	}
	for i, a := range p.Args {
		count := i >= 4 && i%3 == 1
		wide = wide && (count || a*uint64(t.Type.Size())%16 == 0)
	}
	size := tile
	p.Kernel = Single
	switch {
	case t.Host:
		size = t.onHost()
	case wide:
		size, p.Kernel = t.wide(), Wider
	}
	count := func(n int) int { return (n + size - 1) / size }
	p.Tiles = count(l.Dims[last]) * count(l.Dims[other]) * batch
	p.Args = append(p.Args, uint64(p.Tiles))
	return p, true
}

// tiles describes the tiles of a kernel.
type tiles struct {
	name, call   string
	size, blocks int // blocks: per multiprocessor, limited by the registers for loaded elements
}

// Text returns the text of the kernels. On a GPU a block copies one tile; on the host a thread copies a
// share of the tiles. Blocks that run at the same time have neighbouring tiles in both dimensions, so
// that the operand is read and the result is written in long runs.
func (t *Transpose) Text() string {
	w := &writer{}
	w.begin()
	w.line("using symm::u32;")
	of := expression.Storage(t.Type)
	params := []string{of + "* __restrict__ out", "const " + of + "* __restrict__ in", "i64 rows", "i64 cols", "i64 out_row", "i64 in_col"}
	for d := range t.Batch {
		params = append(params, fmt.Sprintf("i64 n%d", d), fmt.Sprintf("i64 o%d", d), fmt.Sprintf("i64 i%d", d))
	}
	params = append(params, "i64 tiles")
	kernels := []tiles{
		{Single, fmt.Sprintf("transpose_tile<%d>", tile), tile, 8},
		{Wider, fmt.Sprintf("transpose_tile_wide<%s, %d, %[2]d>", of, t.wide()), t.wide(), 4 - t.wide()*t.wide()*t.Type.Size()/(32<<10)},
	}
	each := "for (i64 tile = blockIdx.x; tile < tiles; tile += gridDim.x)"
	more, last := "", ""
	if t.Host {
		kernels, each = []tiles{{Single, fmt.Sprintf("transpose_block<%d>", t.onHost()), t.onHost(), 1}}, "SYMM_EACH(tile, (u64)tiles)"
		more, last = ", around", "\n  if (around) calc::stored();"
	}
	for _, k := range kernels {
		w.line(`extern "C" __global__ void __launch_bounds__(%d, %d) %s(%s) {`, Threads, k.blocks, k.name, strings.Join(params, ", "))
		// 32 bits suffice for tiles, and these divisions are most of a thread's calculations.
		w.line("  const u32 across = (u32)((cols + %d) / %d), down = (u32)((rows + %[1]d) / %[2]d), strip = 8;", k.size-1, k.size)
		if t.Host {
			w.line("  const bool around = calc::beyond<%s>(out_row, (u64)tiles * %d);", of, k.size*k.size*t.Type.Size())
		}
		w.line("  %s {\n    u32 rest = (u32)tile / (across * down), at = (u32)tile %% (across * down);", each)
		w.line("    const u32 top = at / (across * strip) * strip, height = down - top < strip ? down - top : strip;\n    at %%= across * strip;")
		w.line("    const i64 row = (i64)(top + at %% height) * %d, col = (i64)(at / height) * %[1]d;", k.size)
		w.line("    i64 to = row * out_row + col, from = col * in_col + row;")
		for d := range t.Batch {
			w.line("    to += rest %% (u32)n%d * o%[1]d, from += rest %% (u32)n%[1]d * i%[1]d, rest /= (u32)n%[1]d;", d)
		}
		w.line("    calc::%s(out + to, in + from, rows - row, cols - col, out_row, in_col%s);\n  }%s\n}", k.call, more, last)
	}
	return w.b.String()
}
