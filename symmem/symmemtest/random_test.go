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

var randomCalls = flag.Int("calls", 0, "make so many random calls on every number of ranks, all accesses watched")

// callsVariable passes a child the number of calls for randomCallsCase.
const callsVariable = "SYMMTEST_CHILD_CALLS"

// TestRandomCalls makes the same random calls on all ranks with all accesses watched: their results
// are right, and the sanitizer finds nothing.
func TestRandomCalls(t *testing.T) {
	t.Setenv(sanitizeVariable, "1")
	counts := []int{2}
	if *randomCalls > 0 {
		counts = []int{2, 3, 4}
	}
	t.Setenv(callsVariable, strconv.Itoa(max(40, *randomCalls)))
	for _, n := range counts {
		t.Run(fmt.Sprintf("%dranks", n), func(t *testing.T) {
			needRanks(t, "cpu", n)
			start(t, "cpu", n).run(t, "RandomCalls")
		})
	}
}

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
	first, second := symmem.NewStream(), symmem.NewStream()
	done := symmem.NewEvent()
	type result struct {
		name string
		got  *symmem.Tensor
		want []int
	}
	var results []result
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
			switch same.IntN(9) {
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
	first.Free()
	second.Free()
	done.Free()
}
