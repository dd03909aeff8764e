package symmemtest

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/symmem"
)

var randomCalls = flag.Int("calls", 0, "make so many random calls on every number of ranks, on the cpu device with all accesses watched")

// callsVariable passes a child the number of calls for randomCallsCase.
const callsVariable = "SYMMTEST_CHILD_CALLS"

// TestRandomCalls makes the same random calls on all ranks: their results are right. On the cpu device
// all accesses are watched, and the sanitizer finds nothing.
func TestRandomCalls(t *testing.T) {
	counts := []int{2}
	if *randomCalls > 0 {
		counts = []int{2, 3, 4}
	}
	t.Setenv(callsVariable, strconv.Itoa(max(3*kinds, *randomCalls)))
	for _, device := range devices(t) {
		t.Run(device, func(t *testing.T) {
			if device == "cpu" {
				t.Setenv(sanitizeVariable, "1")
			}
			for _, n := range counts {
				t.Run(fmt.Sprintf("%dranks", n), func(t *testing.T) {
					needRanks(t, device, n)
					start(t, device, n).run(t, "RandomCalls")
				})
			}
		})
	}
}

// kinds is the number of kinds of calls that randomCallsCase makes.
const kinds = 19

// randomCallsCase makes calls without a barrier in between, on two streams, with inputs that are
// overwritten at once and ranks that are late.
func randomCallsCase(t *T) {
	calls, err := strconv.Atoi(os.Getenv(callsVariable))
	if err != nil {
		t.Fatalf("%s: %v", callsVariable, err)
	}
	const most = 1 << 10
	// the same on all ranks, and this rank's own
	same, own := rand.New(rand.NewPCG(1, 0)), rand.New(rand.NewPCG(2, uint64(t.rank)))
	x, y := symmem.Empty(symmem.I32, most*t.size), symmem.Empty(symmem.I32, most*t.size)
	h := symmem.Rendezvous(x)
	symmem.Rendezvous(y)
	g := symmem.NewNamedGroup("random", symmem.World().Ranks()...)
	symmem.Rendezvous(x, g)
	small := symmem.Empty(symmem.F8E5M2, most*t.size)
	symmem.Rendezvous(small)
	first, second := symmem.NewStream(), symmem.NewStream()
	done := symmem.NewEvent()
	type result struct {
		name string
		got  *symmem.Tensor
		want []int
	}
	var results []result
	order := same.Perm(kinds) // so that each is made
	for k := range calls {
		// Element i of rank r, and the tensors of all ranks.
		at := func(r, i int) int { return (r+1)*(k%9) + i%7 }
		each := func(n int, f func(i int) int) []int {
			list := make([]int, n)
			for i := range list {
				list[i] = f(i)
			}
			return list
		}
		sum := func(i int) (s int) {
			for r := range t.size {
				s += at(r, i)
			}
			return s
		}
		n := 4 * (1 + same.IntN(most/4))
		root, distance := same.IntN(t.size), 1+same.IntN(t.size-1)
		peer := (t.rank + distance) % t.size
		done.Wait(first)
		var got *symmem.Tensor
		var want []int
		name := ""
		symmem.OnStream(first, func() {
			in := x.Slice(0, n*t.size).CopyFrom(each(n*t.size, func(i int) int { return at(t.rank, i) }))
			if own.IntN(8) == 0 {
				time.Sleep(time.Millisecond)
			}
			part := in.Slice(0, n)
			table := in.View(t.size, n) // element (i, j) of rank r is at(r, i*n+j)
			switch order[k%kinds] {
			case 0:
				name, want = "one_shot_all_reduce", each(n, sum)
				got = symmem.OneShotAllReduce(part, "sum")
			case 1:
				name, want = "two_shot_all_reduce", each(n, sum)
				got = symmem.Local(symmem.I32, n).CopyFrom(symmem.TwoShotAllReduce(part, "sum"))
			case 2:
				name, want = "reduce_scatter", each(n, func(i int) int { return sum(t.rank*n + i) })
				got = symmem.ReduceScatter(in, "sum")
			case 3:
				name, want = "all_gather", each(n*t.size, func(i int) int { return at(i/n, i%n) })
				got = symmem.AllGather(part)
			case 4:
				name, want = "all_to_all", each(n*t.size, func(i int) int { return at(i/n, t.rank*n+i%n) })
				got = symmem.AllToAll(in)
			case 5:
				name, want = "broadcast", each(n, func(i int) int { return at(root, i) })
				symmem.Broadcast(part, root)
				got = symmem.Local(symmem.I32, n).CopyFrom(part)
			case 6:
				name, want = "all_gather by copies", each(n*t.size, func(i int) int { return at(i/n, i%n) })
				got = symmem.AllGather(part, symmem.CopyEngine())
			case 7:
				name, want = "peer's memory", each(n, func(i int) int { return at(peer, i) })
				h.Barrier(2)
				got = symmem.Local(symmem.I32, n).CopyFrom(h.GetRemoteTensor(peer).Slice(0, n))
				h.Barrier(2)
			case 8:
				from := (t.rank + t.size - distance) % t.size
				name, want = "put with a signal", each(n, func(i int) int { return at(from, i) })
				h.Barrier(3)
				symmem.Rendezvous(y).Put(peer, symmem.Local(symmem.I32, n).CopyFrom(part))
				h.PutSignal(peer, 4)
				h.WaitSignal(from, 4)
				got = symmem.Local(symmem.I32, n).CopyFrom(y.Slice(0, n))
				h.Barrier(3)
			case 9:
				name, got = "tile_reduce", symmem.Local(symmem.I32, t.size, n).Fill(guard)
				top, left := same.IntN(t.size), same.IntN(n)
				rows, cols := 1+same.IntN(t.size-top), 1+same.IntN(n-left)
				symmem.TileReduce(table.Tile(top, top+rows, left, left+cols), got.Tile(0, rows, 0, cols), root, "sum")
				want = each(t.size*n, func(i int) int {
					if row, col := i/n, i%n; t.rank == root && row < rows && col < cols {
						return sum((top+row)*n + left + col)
					}
					return guard
				})
			case 10:
				name, want = "reduce_scatter_offset", []int{}
				cut := []int{same.IntN(n + 1), n, n}
				cut[1] = cut[0] + same.IntN(n+1-cut[0])
				to := []int{root, (root + 1) % t.size, root}
				var blocks []*symmem.Tensor
				for i, lo := range []int{0, cut[0], cut[1]} {
					if to[i] == t.rank {
						blocks = append(blocks, symmem.Local(symmem.I32, t.size, cut[i]-lo))
						want = append(want, each(t.size*(cut[i]-lo), func(j int) int { return sum(j/(cut[i]-lo)*n + lo + j%(cut[i]-lo)) })...)
					}
				}
				symmem.ReduceScatterOffset(table, blocks, 1, cut, to, "sum")
				got = symmem.Local(symmem.I32, len(want))
				end := 0
				for _, b := range blocks {
					got.Slice(end, end+b.Numel()).CopyFrom(b)
					end += b.Numel()
				}
			case 11:
				name, got = "all_to_all_permute", symmem.Local(symmem.I32, n, t.size)
				symmem.AllToAllPermute(in.View(t.size*n, 1), got, 0, 1)
				want = each(n*t.size, func(i int) int { return at(i%t.size, t.rank*n+i/t.size) })
			case 12:
				name = "all_gather_matmul"
				rows, inner := 1+same.IntN(3), n/4
				shard, by := part.Slice(0, rows*inner).View(rows, inner), symmem.Local(symmem.I32, inner, 2).Fill(3)
				_, products := symmem.AllGatherMatMul(shard, []*symmem.Tensor{by})
				got = products[0]
				want = each(t.size*rows*2, func(i int) (dot int) {
					r, row := i/2/rows, i/2%rows
					for l := range inner {
						dot += 3 * at(r, row*inner+l)
					}
					return dot
				})
			case 13:
				name = "matmul_reduce_scatter"
				got = symmem.MatMulReduceScatter(table, symmem.Local(symmem.I32, n, 2).Fill(2), "sum").View(-1)
				want = each(2, func(int) (dot int) {
					for j := range n {
						dot += 2 * sum(t.rank*n+j)
					}
					return dot
				})
			case 14:
				name, want = "all_to_all that is waited for", each(n*t.size, func(i int) int { return at(i/n, t.rank*n+i%n) })
				got = symmem.Local(symmem.I32, n*t.size)
				symmem.Async(func() { symmem.AllToAllOut(in, got) }).Wait()
			case 15:
				name, want = "all_reduce in a pool", each(n, sum)
				symmem.UseMemPool(func() {
					pooled := symmem.Local(symmem.I32, n).CopyFrom(part)
					got = symmem.Local(symmem.I32, n)
					symmem.OneShotAllReduceOut(pooled, "sum", got)
					pooled.Free()
				})
			case 16:
				name, want = "all_reduce in a group with a name", each(n, sum)
				got = symmem.Local(symmem.I32, n).CopyFrom(symmem.AllReduce(part, "sum", symmem.GroupNamed("random")))
			case 17:
				name, got = "reduce_scatter of 8-bit floats", symmem.Local(symmem.F8E5M2, n)
				few := func(r, i int) int { return at(r, i) % 3 }
				parts := small.Slice(0, n*t.size).CopyFrom(each(n*t.size, func(i int) int { return few(t.rank, i) }))
				symmem.ReduceScatterOut(parts, "sum", got)
				want = each(n, func(i int) (s int) {
					for r := range t.size {
						s += few(r, t.rank*n+i)
					}
					return s
				})
			case 18:
				name, got = "matmul of 8-bit floats", symmem.Local(symmem.F32, 1, 2)
				a, b := symmem.Local(symmem.F8E4M3, 1, n), symmem.Local(symmem.F8E4M3, n, 2).Fill(2)
				symmem.MatMul(got, a.CopyFrom(each(n, func(i int) int { return at(t.rank, i) % 3 })), b)
				want = each(2, func(int) (dot int) {
					for i := range n {
						dot += 2 * (at(t.rank, i) % 3)
					}
					return dot
				})
			}
			in.Fill(-1)
		})
		done.Record(first)
		first, second = second, first
		results = append(results, result{fmt.Sprintf("call %d, %s of %d", k, name, n), got, want})
	}
	first.Synchronize()
	second.Synchronize()
	for _, r := range results {
		t.equal(r.name, r.got.Ints(), r.want)
	}
	t.meet()
	x.Free()
	y.Free()
	small.Free()
	g.Free()
	first.Free()
	second.Free()
	done.Free()
}
