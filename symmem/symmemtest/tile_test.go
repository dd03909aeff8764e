package symmemtest

import (
	"fmt"
	"slices"
	"time"

	"github.com/symmrepl/symmrepl/symmem"
)

// square returns a tensor whose element at row i and column j is 100*rank + 10*i + j.
func (t *T) square(d symmem.DType, rows, cols int) *symmem.Tensor {
	x := symmem.Empty(d, rows, cols)
	symmem.Rendezvous(x)
	return x.CopyFrom(named(t.rank, rows, cols))
}

func named(r, rows, cols int) (values []int) {
	for i := range rows {
		for j := range cols {
			values = append(values, 100*r+10*i+j)
		}
	}
	return values
}

// summed returns the sum over all ranks of the element at row i and column j.
func (t *T) summed(i, j int) int { return t.size*(10*i+j) + 100*t.size*(t.size-1)/2 }

// tileExampleCase is an example of PyTorch's semantics, which gives 122 124 142 144 for two ranks.
func tileExampleCase(t *T) {
	x := t.square(symmem.F32, 4, 4)
	out := symmem.Local(symmem.F32, 4, 4).Fill(untouched)
	root := 1 % t.size
	symmem.TileReduce(x.Tile(1, 3, 1, 3), out.Tile(1, 3, 1, 3), root, "sum")
	want := slices.Repeat([]int{untouched}, 16)
	if t.rank == root {
		want[5], want[6], want[9], want[10] = t.summed(1, 1), t.summed(1, 2), t.summed(2, 1), t.summed(2, 2)
		if t.size == 2 {
			t.equal("the example", []int{want[5], want[6], want[9], want[10]}, []int{122, 124, 142, 144})
		}
	}
	t.equal("tile_reduce", out.Ints(), want)
	t.equal("the input", x.Ints(), named(t.rank, 4, 4))

	if t.size > 1 {
		out.Fill(untouched)
		lo := map[int]int{1: 0, 0: 2}[t.rank]
		mine := out.Tile(lo, lo+2, 0, 4)
		if t.rank > 1 {
			mine = nil
		}
		symmem.MultiRootTileReduce([]*symmem.Tile{x.Tile(0, 2, 0, 4), x.Tile(2, 4, 0, 4)}, mine, []int{1, 0}, "sum")
		want = slices.Repeat([]int{untouched}, 16)
		for i := lo; t.rank < 2 && i < lo+2; i++ {
			for j := range 4 {
				want[4*i+j] = t.summed(i, j)
			}
		}
		t.equal("multi_root_tile_reduce", out.Ints(), want)
	}
	x.Free()
}

// tileReduceCase reduces tiles of every width and type; elements around the result keep their
// values.
func tileReduceCase(t *T) {
	for k, d := range t.some(computing) {
		x := symmem.Empty(d, 27, 64)
		symmem.Rendezvous(x)
		inputs := t.inputsOf(x.View(27 * 64))
		for i, c := range [][4]int{{0, 27, 0, 64}, {1, 26, 8, 40}, {3, 4, 0, 1}, {0, 25, 5, 22}, {7, 7, 3, 9}, {2, 27, 16, 61}} {
			op, root := reductions[(i+k)%4], (i+k)%t.size
			y := symmem.Local(d, 30, 48+16*(i%2)).Fill(guard)
			rows, cols := c[1]-c[0], min(c[3]-c[2], 45)
			at := y.Tile(2, 2+rows, i%3, i%3+cols)
			symmem.TileReduce(x.Tile(c[0], c[1], c[2], c[2]+cols), at, root, op)
			got := y.Float64s()
			pitch := y.Shape()[1]
			for n, v := range got {
				row, col := n/pitch-2, n%pitch-i%3
				want := float64(guard)
				if t.rank == root && row >= 0 && row < rows && col >= 0 && col < cols {
					values := make([]float64, t.size)
					for p := range values {
						values[p] = inputs[p][(c[0]+row)*64+c[2]+col]
					}
					want = t.reduced(d, op, values)
				}
				if v != want {
					t.Fatalf("%v %s of %v to %d: element %d, %d is %v, want %v", d, op, c, root, row, col, v, want)
				}
			}
		}
		symmem.Synchronize()
		t.meet()
		x.Free()
	}
}

// multiRootCase gives every rank a quarter, or another part, of a matrix, and then gives parts only
// to some ranks.
func multiRootCase(t *T) {
	const rows, cols = 12, 32
	x := t.square(symmem.I32, rows*t.size, cols)
	out := symmem.Empty(symmem.I32, rows*t.size, cols)
	for _, count := range []int{t.size, max(1, t.size/2)} {
		var tiles []*symmem.Tile
		var roots []int
		for i := range count {
			tiles = append(tiles, x.Tile(rows*i, rows*i+rows, 3, 29))
			roots = append(roots, (i+1)%t.size)
		}
		out.Fill(0)
		mine := (t.rank + t.size - 1) % t.size
		var at *symmem.Tile
		if mine < count {
			at = out.Tile(rows*mine, rows*mine+rows, 3, 29)
		}
		symmem.MultiRootTileReduce(tiles, at, roots, "sum")
		want := make([]int, rows*t.size*cols)
		for i := rows * mine; at != nil && i < rows*mine+rows; i++ {
			for j := 3; j < 29; j++ {
				want[i*cols+j] = t.summed(i, j)
			}
		}
		t.equal(fmt.Sprint(count, " roots"), out.Ints(), want)
	}
	out.Free()
	x.Free()
}

// reduceScatterOffsetCase runs PyTorch's examples, and blocks (rank+1)(i+1) of equal and of unequal
// sizes.
func reduceScatterOffsetCase(t *T) {
	if t.size == 2 {
		x := t.square(symmem.F32, 6, 2)
		sizes := [][]int{{1, 2}, {1, 2}}[t.rank]
		out := []*symmem.Tensor{symmem.Local(symmem.F32, sizes[0], 2), symmem.Local(symmem.F32, sizes[1], 2)}
		symmem.ReduceScatterOffset(x, out, 0, []int{1, 2, 4, 6}, nil, "sum")
		t.equal("block 0", out[0].Ints(), [][]int{{100, 102}, {120, 122}}[t.rank])
		t.equal("block 1", out[1].Ints(), [][]int{{140, 142, 160, 162}, {180, 182, 200, 202}}[t.rank])
		x.Free()
		y := t.square(symmem.F32, 2, 4)
		y.CopyFrom([]int{100 * t.rank, 100*t.rank + 1, 100*t.rank + 2, 100*t.rank + 3, 100 * t.rank, 100*t.rank + 1, 100*t.rank + 2,
			100*t.rank + 3})
		out = []*symmem.Tensor{symmem.Local(symmem.F32, 2, 1), symmem.Local(symmem.F32, 2, 1)}
		symmem.ReduceScatterOffset(y, out, 1, []int{1, 2, 3, 4}, []int{1, 0, 0, 1}, "sum")
		t.equal("column 0", out[0].Ints(), [][]int{{102, 102}, {100, 100}}[t.rank])
		t.equal("column 1", out[1].Ints(), [][]int{{104, 104}, {106, 106}}[t.rank])
		y.Free()
	}
	for _, d := range []symmem.DType{symmem.F32, symmem.BF16, symmem.F16} {
		for _, each := range []int{1, 2} {
			for dim := range 2 {
				for _, grow := range []int{0, 32} { // every j-th block is larger by grow
					blocks := each * t.size
					var offsets []int
					length := 0
					for i := range blocks {
						length += 16 + grow*(i/t.size)
						offsets = append(offsets, length)
					}
					shape := [2]int{length, 8}
					if dim == 1 {
						shape = [2]int{8, length}
					}
					x := symmem.Empty(d, shape[0], shape[1])
					symmem.Rendezvous(x)
					values := make([]int, 8*length)
					for n := range values {
						at := []int{n / shape[1], n % shape[1]}[dim]
						values[n] = (t.rank + 1) * (1 + slices.IndexFunc(offsets, func(o int) bool { return at < o }))
					}
					x.CopyFrom(values)
					var out []*symmem.Tensor
					for j := range each {
						out = append(out, symmem.Local(d, 8*(16+grow*j)))
					}
					given := offsets
					if grow == 0 && each == 1 {
						given = nil // the default
					}
					symmem.ReduceScatterOffset(x, out, dim, given, nil, "sum")
					for j, o := range out {
						i := j*t.size + t.rank
						t.equal(fmt.Sprint(d, each, dim, grow, " block ", i), o.Ints(),
							slices.Repeat([]int{(i + 1) * t.size * (t.size + 1) / 2}, o.Numel()))
					}
					t.equal("the input", x.Ints(), values)
					x.Free()
				}
			}
		}
	}
}

// permuteCase runs PyTorch's example, then both directions with every size of element and kind of
// shape.
func permuteCase(t *T) {
	if t.size == 2 {
		x := t.square(symmem.I64, 2, 4)
		out, back := symmem.Local(symmem.I64, 4, 2), symmem.Local(symmem.I64, 2, 4)
		symmem.AllToAllPermute(x, out, 1, 0)
		want := [][]int{{0, 1, 10, 11, 100, 101, 110, 111}, {2, 3, 12, 13, 102, 103, 112, 113}}[t.rank]
		t.equal("the example", out.Ints(), want)
		y := symmem.Empty(symmem.I64, 4, 2)
		symmem.Rendezvous(y)
		symmem.AllToAllPermute(y.CopyFrom(want), back, 0, 1)
		t.equal("and back", back.Ints(), named(t.rank, 2, 4))
		x.Free()
		y.Free()
	}
	for k, d := range exchangeTypes {
		for _, c := range [][2]int{{1, 1}, {5, 3}, {7, 16}, {32, 64}} {
			rows, cols := c[0], c[1]
			n := rows * cols * t.size
			in, out := symmem.Empty(d, n+4), symmem.Empty(d, n+4)
			symmem.Rendezvous(in)
			symmem.Rendezvous(out)
			at := k % 3
			part := t.fillPattern(in).Slice(at, at+n)
			want := func(scatter int) []float64 {
				all := slices.Repeat([]float64{3}, n+4)
				for q := range t.size {
					for i := range rows {
						for j := range cols {
							if scatter == 1 { // out[q][i][j] is in[i][me][j] of q
								all[1+(q*rows+i)*cols+j] = pattern(d, q, at+(i*t.size+t.rank)*cols+j)
							} else { // out[i][q][j] is in[me][i][j] of q
								all[1+(i*t.size+q)*cols+j] = pattern(d, q, at+(t.rank*rows+i)*cols+j)
							}
						}
					}
				}
				return all
			}
			shapes := [2][2][]int{{{t.size * rows, cols}, {rows, t.size * cols}}, {{rows, t.size * cols}, {t.size * rows, cols}}}
			deep := [2][2][]int{{{t.size, rows, cols}, {rows, t.size, cols}}, {{rows, t.size, cols}, {t.size, rows, cols}}}
			local := symmem.Local(d, n+4)
			for scatter := range 2 {
				for form, s := range [][2][]int{shapes[scatter], deep[scatter]} {
					to := []*symmem.Tensor{out, local}[form]
					to.Fill(3)
					symmem.AllToAllPermute(part.View(s[0]...), to.Slice(1, 1+n).View(s[1]...), scatter, 1-scatter)
					t.equal(fmt.Sprint(d, rows, cols, " scatter ", scatter, " form ", form), to.Float64s(), want(scatter))
				}
			}
			in.Free()
			out.Free()
		}
	}
}

// permuteDimensionsCase moves every dimension of a tensor of four into every other one.
func permuteDimensionsCase(t *T) {
	for scatter := range 4 {
		for gather := range 4 {
			if scatter == gather {
				continue
			}
			shape, want := []int{2, 3, 4, 5}, []int{2, 3, 4, 5}
			shape[scatter] *= t.size
			want[gather] *= t.size
			n := 120 * t.size
			in, out := symmem.Empty(symmem.I32, shape...), symmem.Empty(symmem.I32, want...)
			values := make([]int, n)
			for i := range values {
				values[i] = t.rank*n + i
			}
			in.CopyFrom(values)
			for i := range values { // element i of out is of member q, at an index of its in
				index := make([]int, 4)
				for d, rest := 3, i; d >= 0; d-- {
					index[d], rest = rest%want[d], rest/want[d]
				}
				each := want[gather] / t.size
				q := index[gather] / each
				index[gather] %= each
				index[scatter] += t.rank * shape[scatter] / t.size
				at := 0
				for d := range 4 {
					at = at*shape[d] + index[d]
				}
				values[i] = q*n + at
			}
			what := fmt.Sprintf("scatter %d, gather %d", scatter, gather)
			symmem.AllToAllPermute(in, out, scatter, gather)
			t.equal(what, out.Ints(), values)
			local := symmem.Local(symmem.I32, want...)
			symmem.AllToAllPermute(in, local, scatter-4, gather-4)
			t.equal(what+" into ordinary memory", local.Ints(), values)
			symmem.AllToAllPermute(out, in.Fill(0), gather, scatter)
			t.equal(what+" and back", in.Slice(0, 1).Ints()[:3], []int{t.rank * n, t.rank*n + 1, t.rank*n + 2})
			in.Free()
			out.Free()
		}
	}
}

// tileGraphCase captures all operations on tiles, and replays them after the input changed.
func tileGraphCase(t *T) {
	x := symmem.Empty(symmem.I32, 4*t.size, 8)
	symmem.Rendezvous(x)
	a, b, c, d := symmem.Local(symmem.I32, 4, 8), symmem.Local(symmem.I32, 4, 8), symmem.Local(symmem.I32, 4, 8),
		symmem.Local(symmem.I32, 4, t.size*8)
	f := func() {
		symmem.TileReduce(x.Tile(0, 4, 0, 8), a.Tile(0, 4, 0, 8), 0, "max")
		var tiles []*symmem.Tile
		var roots []int
		for i := range t.size {
			tiles, roots = append(tiles, x.Tile(4*i, 4*i+4, 0, 8)), append(roots, i)
		}
		symmem.MultiRootTileReduce(tiles, b.Tile(0, 4, 0, 8), roots, "sum")
		symmem.ReduceScatterOffset(x, []*symmem.Tensor{c}, 0, nil, nil, "min")
		symmem.AllToAllPermute(x, d, 0, 1)
	}
	x.Fill(t.rank)
	f()
	g := symmem.Capture(f)
	for k := range 3 {
		x.Fill(10*k + t.rank)
		g.Replay()
		sum := t.size*10*k + t.size*(t.size-1)/2
		if t.rank == 0 {
			t.equal("tile_reduce", a.Ints(), slices.Repeat([]int{10*k + t.size - 1}, 32))
		}
		t.equal("multi_root_tile_reduce", b.Ints(), slices.Repeat([]int{sum}, 32))
		t.equal("reduce_scatter_offset", c.Ints(), slices.Repeat([]int{10 * k}, 32))
		var row []int
		for q := range t.size {
			row = append(row, slices.Repeat([]int{10*k + q}, 8)...)
		}
		t.equal("all_to_all_permute", d.Ints(), slices.Repeat(row, 4))
	}
	g.Free()
	x.Free()
}

func tileMisuseCase(t *T) {
	x := t.square(symmem.F32, 4*t.size, 4)
	y := symmem.Local(symmem.F32, 4*t.size, 4)
	in, out := x.Tile(0, 2, 0, 2), y.Tile(0, 2, 0, 2)
	one := symmem.Local(symmem.F32, 4, 4)
	for _, c := range []struct {
		f     func()
		words []string
	}{
		{func() { x.Tile(0, 5*t.size, 0, 1) }, []string{"Tile", "is not within"}},
		{func() { x.View(-1).Tile(0, 1, 0, 1) }, []string{"two dimensions"}},
		{func() { symmem.TileReduce(in, out, t.size, "sum") }, []string{"tile_reduce", "root must be in [0"}},
		{func() { symmem.TileReduce(in, out, -1, "sum") }, []string{"root must be in [0"}},
		{func() { symmem.TileReduce(in, nil, t.rank, "sum") }, []string{"out is nil", "is a root"}},
		{func() { symmem.TileReduce(in, y.Tile(0, 2, 0, 3), 0, "sum") }, []string{"must have the same type and shape"}},
		{func() { symmem.TileReduce(in, x.Tile(1, 3, 1, 3), t.rank, "sum") }, []string{"overlaps"}},
		{func() { symmem.TileReduce(out, in, 0, "sum") }, []string{"not symmetric"}},
		{func() { symmem.TileReduce(in, out, 0, "mul") }, []string{"the reduction must be"}},
		{func() { symmem.TileReduce(in, out, 0, "sum", symmem.SplitLastDim()) }, []string{"SplitLastDim"}},
		{func() {
			symmem.MultiRootTileReduce([]*symmem.Tile{in, in}, out, []int{0, 0}, "sum")
		}, []string{"multi_root_tile_reduce", "root of two tiles"}},
		{func() { symmem.MultiRootTileReduce([]*symmem.Tile{in}, out, nil, "sum") }, []string{"a root for each tile"}},
		{func() { symmem.ReduceScatterOffset(x, []*symmem.Tensor{one}, 2, nil, nil, "sum") },
			[]string{"reduce_scatter_offset", "dim be 0 or 1"}},
		{func() { symmem.ReduceScatterOffset(x, nil, 0, nil, nil, "sum") }, []string{"out must have 1 tensor, one for each block"}},
		{func() {
			symmem.ReduceScatterOffset(x, []*symmem.Tensor{one.Slice(0, 3)}, 0, nil, nil, "sum")
		}, []string{"expected out shape f32[4, 4]"}},
		{func() {
			symmem.ReduceScatterOffset(x, []*symmem.Tensor{one}, 0, []int{4 * t.size, 3}, nil, "sum")
		}, []string{"must not decrease"}},
		{func() {
			symmem.ReduceScatterOffset(x, []*symmem.Tensor{one}, 0, []int{4}, []int{t.size}, "sum")
		}, []string{"dstRanks must be in [0"}},
		{func() { symmem.AllToAllPermute(x, y, 1, 1) }, []string{"all_to_all_permute", "scatter 1, gather 1"}},
		{func() { symmem.AllToAllPermute(x, symmem.Local(symmem.F32, 3, 3), 0, 1) }, []string{"does not become"}},
		{func() {
			permuted := symmem.Local(symmem.F32, 4, 4*t.size)
			symmem.Capture(func() { symmem.AllToAllPermute(y, permuted, 0, 1) })
		}, []string{"not symmetric"}},
	} {
		t.refused(symmem.KindMisuse, c.f, c.words...)
	}
	x.Free()
}

func tileTimeoutCase(t *T) {
	x := t.square(symmem.F32, 4*t.size, 4)
	limit := symmem.Timeout(50 * time.Millisecond)
	for op, f := range map[string]func(){
		"tile_reduce": func() {
			symmem.TileReduce(x.Tile(0, 2, 0, 2), symmem.Local(symmem.F32, 2, 2).Tile(0, 2, 0, 2), 0, "sum", limit)
		},
		"all_to_all_permute": func() { symmem.AllToAllPermute(x, symmem.Local(symmem.F32, 4, 4*t.size), 0, 1, limit) },
	} {
		if t.rank == 0 {
			f()
			e := t.refused(symmem.KindTimeout, symmem.Synchronize, op, "waited", "must make the same call")
			if e.Peer < 1 {
				t.Errorf("%s: the peer is %d", op, e.Peer)
			}
		}
		symmem.Recover()
	}
	x.Free()
}
