package calculate

import (
	"fmt"
	"strings"

	"github.com/symmrepl/symmrepl/symmem/internal/element"
	"github.com/symmrepl/symmrepl/symmem/internal/expression"
)

// Transpose describes the kernel that copies elements whose neighbours in memory are not neighbours
// in the result: tiles go through shared memory, so that both are read and written in rows.
type Transpose struct {
	Type  element.Type
	Batch int // dimensions besides the two of the tiles
}

// Tile is the number of rows and columns of a tile, and TileThreads are the threads of its block.
func (t *Transpose) Tile() int {
	if t.Type.Size() < 4 {
		return 64
	}
	return 32
}

const TileThreads = 256

// Plan finds the two dimensions in a layout of a map of one operand, Apart, whose result is Flat.
// The arguments follow the addresses of the result and the operand. ok is false if no dimension of
// the operand has neighbours in memory.
func (t *Transpose) Plan(l Layout) (args []uint64, tiles int, ok bool) {
	out, in := Strides(l.Dims), l.Strides[1]
	last := len(l.Dims) - 1
	other := -1
	for d, s := range in {
		if s == 1 && d != last {
			other = d
		}
	}
	if other < 0 || l.Dims[last] < 8 || l.Dims[other] < 8 {
		return nil, 0, false
	}
	count := func(n int) int { return (n + t.Tile() - 1) / t.Tile() }
	tiles = count(l.Dims[last]) * count(l.Dims[other])
	args = []uint64{uint64(l.Dims[other]), uint64(l.Dims[last]), uint64(out[other]), uint64(in[last])}
	for d, n := range l.Dims {
		if d != other && d != last {
			args = append(args, uint64(n), uint64(out[d]), uint64(in[d]))
			tiles *= n
			t.Batch++
		}
	}
	return append(args, uint64(tiles)), tiles, true
}

// Text is the text of the kernel, Single: one block for each tile, and on the host a share of the
// tiles for each thread.
func (t *Transpose) Text() string {
	w := &writer{}
	w.begin()
	of := expression.Storage(t.Type)
	params := []string{of + "* __restrict__ out", "const " + of + "* __restrict__ in", "i64 rows", "i64 cols", "i64 out_row", "i64 in_col"}
	for d := range t.Batch {
		params = append(params, fmt.Sprintf("i64 n%d", d), fmt.Sprintf("i64 o%d", d), fmt.Sprintf("i64 i%d", d))
	}
	params = append(params, "i64 tiles")
	w.line(`extern "C" __global__ void %s(%s) {`, Single, strings.Join(params, ", "))
	w.line("  const i64 across = (cols + %d) / %d, down = (rows + %[1]d) / %[2]d;", t.Tile()-1, t.Tile())
	w.line("  SYMM_TILES(tile, tiles) {\n    i64 rest = tile;\n    const i64 col = rest %% across * %d;\n    rest /= across;\n    const i64 row = rest %% down * %[1]d;\n    rest /= down;", t.Tile())
	w.line("    i64 to = row * out_row + col, from = col * in_col + row;")
	for d := range t.Batch {
		w.line("    to += rest %% n%d * o%[1]d, from += rest %% n%[1]d * i%[1]d, rest /= n%[1]d;", d)
	}
	w.line("    calc::transpose_tile<%d>(out + to, in + from, rows - row, cols - col, out_row, in_col);\n  }\n}", t.Tile())
	return w.b.String()
}
