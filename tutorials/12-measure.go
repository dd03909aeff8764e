//go:build ignore

// Measure like you mean it: floors, medians, graphs, bandwidths, and what not to trust.

// %% [markdown]
// # Measure like you mean it
//
// "Mine is faster" is easily said, and wrong half of the time. A figure is worth something if three questions have an answer:
//
// 1. **What was measured?** The call, the launch, or the work? On one rank, or on the slowest?
// 2. **What is the floor?** What would it take if everything but the hardware's limits were free?
// 3. **Would I get the same figure again**, and is the result right?
//
// In this tutorial you build a measurement that answers them. Without a GPU its figures are those of the emulated device, and mean nothing. How
// they are come by is the same.

// %% A vector for each rank, and a kernel that takes its time.
import "slices"

rank, size := symm.Rank(), symm.WorldSize()
n := 1024
x := symm.Empty(symm.F32, n).Fill(rank + 1)
h := symm.Rendezvous(x)
y := symm.Local(symm.F32, n)
nap := symm.Compile(`
__global__ void nap(unsigned long long ns) {
  unsigned long long start = symm::now_ns();
  while (symm::now_ns() - start < ns) {}
}`)

// %% [markdown]
// ## What a stopwatch sees
//
// A call puts work into the stream and returns. A stopwatch around the call measures how long the host took to *ask*.

// %% A kernel of 50 ms. When has the stopwatch seen it?
start := time.Now()
nap.Launch(symm.Grid(1), symm.Block(1), uint64(50e6))
fmt.Println("the launch is done after", time.Since(start))
symm.Synchronize()
done := time.Since(start)
fmt.Println("the work is done after", done)
fmt.Println("the whole kernel was seen:", done > 45*time.Millisecond)

// %% [markdown]
// The first line is the classic mistake: 50 ms of work "in" a few microseconds.
//
// `symm.Elapsed(f)` does better. It puts a mark into the stream, calls `f`, puts another mark, and asks the device how far they are apart. The way
// to the host and back is not in it.

// %% The device's own clock.
took := symm.Elapsed(func() { nap.Launch(symm.Grid(1), symm.Block(1), uint64(50e6)) })
fmt.Println("the device says", took)
fmt.Println("the whole kernel was seen:", took > 45*time.Millisecond)

// %% [markdown]
// ## Once is never
//
// Measure the same call fifteen times.

// %% The first, and then the best, the median and the worst.
call := func() { symm.OneShotAllReduceOut(x, "sum", y) }
var samples []time.Duration
for range 15 {
	h.Barrier(0)
	samples = append(samples, symm.Elapsed(call))
}
fmt.Println("first: ", samples[0])
slices.Sort(samples)
fmt.Println("best:  ", samples[0])
fmt.Println("median:", samples[len(samples)/2])
fmt.Println("worst: ", samples[len(samples)-1])

// %% [markdown]
// The first call may load a kernel, and finds caches cold and clocks low: *warm up*, and do not count it. Of the rest some are disturbed: another
// process, an interrupt, a clock that changes. One such sample spoils a mean, and leaves the median alone:

// %% Nine times 3 µs, once 97 µs.
disturbed := []float64{3, 3, 3, 3, 97, 3, 3, 3, 3, 3}
mean := 0.0
for _, us := range disturbed {
	mean += us / float64(len(disturbed))
}
slices.Sort(disturbed)
fmt.Printf("mean %.1f µs, median %.1f µs\n", mean, disturbed[len(disturbed)/2])

// %% [markdown]
// The best sample is a figure, too: it is what the hardware can do. What users get is the median. Say which one you report.
//
// ## Ranks
//
// Each rank has a time of its own, and it contains the *waiting for the others*. Here rank 0 comes 50 ms late.

// %% Who comes in time waits.
h.Barrier(0)
if rank == 0 {
	nap.Launch(symm.Grid(1), symm.Block(1), uint64(50e6))
}
fmt.Println("rank", rank, "measures", symm.Elapsed(call))

// %% [markdown]
// The late rank has the *best* figure: when it came, everything was there. So line the ranks up by a barrier right before the first mark, measure
// many calls between two marks, and report the slowest rank. An operation is done when the last rank is done.
//
// `slowest` is the largest of the ranks' figures; every rank gets it.

// %% The slowest rank's figure, by an all-reduce.
figure := symm.Empty(symm.F64, 1)
symm.Rendezvous(figure)
slowest := func(us float64) float64 {
	figure.Fill(us)
	return symm.AllReduce(figure, "max").Float64s()[0]
}
slowest(float64(10 * rank))

// %% [markdown]
// ## All of it
//
// A graph of many calls leaves out what the host does between them (tutorial 10). What is left is the operation. `eager`, calls one by one, is what
// a program sees that does not capture. Both are fair. Say which.

// %% Warm up, line up, many calls in a graph, the median of runs, the slowest rank.
const calls, replays, runs = 10, 3, 7
measure := func(f func()) float64 {
	g := symm.Capture(func() {
		for range calls {
			f()
		}
	})
	defer g.Free()
	g.Replay()
	var us []float64
	for range runs {
		h.Barrier(0)
		us = append(us, g.Elapsed(replays).Seconds()*1e6/calls)
	}
	slices.Sort(us)
	return slowest(us[runs/2])
}
microseconds := func(us float64) time.Duration { return time.Duration(us * 1e3) }
fmt.Println("a one-shot all-reduce of 4 KiB:", microseconds(measure(call)))

// %% [markdown]
// ## The floor
//
// Is that good? Good compared with what? With what the hardware cannot do without:
//
//     floor = an empty kernel + one trip to a peer + bytes that must cross / rate of the link
//
// Each of the three can be measured by itself. The trip is half of a ping-pong between two ranks:

// %% Three small measurements: an empty kernel, a trip, a rate.
parts := symm.Compile(`
__global__ void empty() {}

__global__ void bounce(symm::Handle h, int n) {
  if (h.rank > 1) return;
  for (int i = 1; i <= n; i++) {
    if (h.rank == 0) symm::store_release(h.word(1, 0), (symm::u64)i);
    if (!symm::wait_for_signal(h, 0, i, true)) return;
    if (h.rank == 1) symm::store_release(h.word(0, 0), (symm::u64)i);
  }
  *h.word(h.rank, 0) = 0;
}`)
empty, bounce := parts.Kernel("empty"), parts.Kernel("bounce")
emptyUs := measure(func() { empty.Launch(symm.Grid(1), symm.Block(32)) })

const trips = 200
h.Barrier(0)
tripUs := slowest(symm.Elapsed(func() { bounce.Launch(symm.Grid(1), symm.Block(1), h, trips) }).Seconds() * 1e6 / trips / 2)
h.Barrier(0)

big := 16 << 20
inbox, load := symm.Empty(symm.U8, big), symm.Local(symm.U8, big)
hBig := symm.Rendezvous(inbox)
putUs := measure(func() { hBig.Put((rank+1)%size, load) })
fmt.Println("empty kernel:", microseconds(emptyUs))
fmt.Println("trip:        ", microseconds(tripUs))
fmt.Println("16 MiB:      ", microseconds(putUs))

// %% [markdown]
// And now compare. GB are 10⁹ bytes, so bytes per µs are MB/s. `(size-1)` vectors of 4 KiB must come to each rank:

// %% [varies] How far from the floor?
rate := float64(big) / putUs // bytes per µs
floorUs := emptyUs + tripUs + float64((size-1)*4*n)/rate
callUs := measure(call)
fmt.Printf("the link: %.1f GB/s; floor %.2f µs, measured %.2f µs, %.0f %% of it is the floor\n", rate/1e3, floorUs, callUs, 100*floorUs/callUs)

// %% [markdown]
// On the emulated device the floor is far away, for computing is what costs there. Here is the same for four H200s, where an empty kernel takes
// 0.54 µs, a round trip 1.47 µs, and the copy engines move 386 GB/s. The measured times are those of `docs/benchmarks.md`; an all-reduce sends a
// message of `S` bytes `2(N-1)/N` times.

// %% AllReduce on four H200s: floor and measurement.
floorH200 := func(bytes, sent float64) float64 { return 0.54 + 1.47/2 + bytes*sent/386e3 }
for _, row := range [][]float64{{4 << 10, 2.61}, {64 << 10, 3.43}, {1 << 20, 8.86}, {16 << 20, 84.80}, {256 << 20, 1240.69}} {
	floor := floorH200(row[0], 1.5)
	fmt.Printf("%9.0f bytes: floor %7.2f µs, measured %7.2f µs, share %2.0f %%\n", row[0], floor, row[1], 100*floor/row[1])
}
fmt.Printf("the trip costs as much as %.0f KB\n", (0.54+1.47/2)*386e3/1.5/1e3)

// %% [markdown]
// The last line splits the world. This picture is called a *roofline*:
//
//     share of the link's rate
//     1 │                     ┌──────────────   the bytes are the limit:
//       │                  ／                    send fewer, fill the links
//       │               ／
//       │            ／                          the trip is the limit:
//       │         ／                             fewer trips, fewer launches
//       └──────────────────┼─────────────────
//        4 KB           328 KB          256 MB
//
// Far to the left, a quicker copy gains nothing: of the 2.6 µs for 4 KiB, 0.02 µs are bytes. Far to the right, a launch more or less is nothing.
// **First look on which side you are**, then optimise.
//
// And a prediction before each change: "this takes one trip out, so 0.7 µs". If it gains 0.7 µs, you have understood something. If it gains 2 µs,
// you have not, and should find out why.
//
// ## Two bandwidths
//
// Bytes over time is the *algorithm bandwidth*. It depends on the number of ranks, even if every link is used fully. The *bus bandwidth* is
// corrected for that, so that it can be compared with the link:
//
//     operation                                 bus / algorithm
//     all-reduce                                2(N-1)/N
//     all-gather, reduce-scatter, all-to-all    (N-1)/N
//     broadcast                                 1
//
// The bytes are those of the larger one of a rank's input and output: for an all-gather the output.

// %% [exercise] Bus bandwidth
// Write `bus(op, ranks, bytes, us)`, which returns the bus bandwidth in GB/s. `op` is `"all-reduce"`, `"all-gather"`, `"reduce-scatter"`,
// `"all-to-all"` or `"broadcast"`; `us` is the time in microseconds. A GB is 10⁹ bytes.

// %% [start]
func bus(op string, ranks, bytes int, us float64) float64 {
	return float64(bytes) / us / 1e3
}

// %% [hint]
// The given function returns the algorithm bandwidth: bytes per µs are 10⁶ bytes per second, so a thousand of them are a GB/s. What is missing is
// the factor.

// %% [hint]
// `switch op { case "all-reduce": … }`, and nothing for a broadcast.

// %% [hint]
// In Go, `3/4` is 0: a division of integers leaves the remainder out. Make `ranks` a `float64` first.

// %% [solution]
func bus(op string, ranks, bytes int, us float64) float64 {
	p, factor := float64(ranks), 1.0
	switch op {
	case "all-reduce":
		factor = 2 * (p - 1) / p
	case "all-gather", "reduce-scatter", "all-to-all":
		factor = (p - 1) / p
	}
	return factor * float64(bytes) / us / 1e3
}

// %% [wrong]
func bus(op string, ranks, bytes int, us float64) float64 {
	factor := 1
	switch op {
	case "all-reduce":
		factor = 2 * (ranks - 1) / ranks
	case "all-gather", "reduce-scatter", "all-to-all":
		factor = (ranks - 1) / ranks
	}
	return float64(factor*bytes) / us / 1e3
}

// %% [wrong]
func bus(op string, ranks, bytes int, us float64) float64 {
	p, factor := float64(ranks), 1.0
	switch op {
	case "all-reduce":
		factor = 2 * (p - 1) / p
	case "all-gather", "reduce-scatter", "all-to-all":
		factor = (p - 1) / p
	}
	return factor * float64(bytes) / (1 << 30) / (us / 1e6)
}

// %% [check]
for _, c := range []struct {
	op           string
	ranks, bytes int
	us, want     float64
}{
	{"broadcast", 4, 64 << 20, 281.2, 238.7},
	{"all-reduce", 2, 256 << 20, 805.76, 333.1},
	{"all-reduce", 4, 256 << 20, 1253.12, 321.3},
	{"all-gather", 4, 256 << 20, 579.7, 347.3},
	{"reduce-scatter", 4, 64 << 20, 172.4, 291.9},
	{"all-to-all", 4, 64 << 20, 154.5, 325.8},
	{"all-to-all", 2, 64 << 20, 106.6, 314.8},
} {
	got := bus(c.op, c.ranks, c.bytes, c.us)
	if math.Abs(got-c.want) > 0.2 {
		panic(fmt.Sprintf("bus(%q, %d, %d, %v) is %.1f, not %.1f GB/s", c.op, c.ranks, c.bytes, c.us, got, c.want))
	}
}
fmt.Println("correct")

// %% [markdown]
// The figures of the check are those of H200s, whose copy engines move 386 GB/s. All are below. That is no accident, and it is the best test of a
// measurement there is:
//
// **Who is faster than the floor has measured something else.**
//
// ## Fast and wrong
//
// A colleague has written an all-reduce that is `N` times as fast as ours. Look at its result before you look at its time.

// %% The time of a wrong result is no time.
colleague := symm.Compile(`
__global__ void colleague(symm::Handle h, float* out, int n) {
  if (!symm::barrier(h, 0)) return;
  for (int i = threadIdx.x; i < n / h.world_size; i += blockDim.x) {
    float total = 0;
    for (int p = 0; p < h.world_size; p++) total += h.buffer<float>(p)[i];
    out[i] = total;
  }
  symm::barrier(h, 0);
}`)
y.Fill(0)
colleague.Launch(symm.Grid(1), symm.Block(128), h, y, n)
right := 0
for _, sum := range y.Float32s() {
	if sum == float32(size*(size+1)/2) {
		right++
	}
}
fmt.Println(right, "of", n, "sums are right")

// %% [markdown]
// It sums one slice and leaves out the rest. Always check the result that was measured, with data in which a mistake shows: different on each rank,
// never all zeros. And fill the output with something else before, or the right result of an earlier call is found there.
//
// ## What not to trust
//
// - **The first call.** It compiles, loads and maps.
// - **A stopwatch without Synchronize.**
// - **One rank's time**, and the mean over ranks.
// - **Yesterday's figure of the other one.** Clocks, temperatures and neighbours change by some percent. Measure both in the same run, in turns.
// - **A small buffer used again and again.** It stays in a cache (50 MB on an H200): right if that is so in your program, too.
// - **A size that suits.** Powers of two, multiples of the number of ranks: measure 1000003 as well.
// - **Your own wish.** Write down the prediction first.
//
// `symmrepl bench` measures as `measure` does. In a shell:
//
//     symmrepl bench all_reduce -n 4 --sizes 4K,1M,64M --peers
//
// It prints the three parts of the floor first, and then for each size the floor (`limit`), a call in a graph and eager, both bandwidths, and the
// bus bandwidth's share of the link. With `--peers`, PyTorch and NCCL are measured in the same run, if python3 finds torch. `--svg FILE` draws it
// over the sizes, with the link's limit: there is your roofline.
//
// ## Summing up
//
// The last exercise is the heart of `measure`: many samples of many ranks, one figure.

// %% [exercise] One figure
// Write `summary(us)`. `us[r][i]` is what rank `r` measured in run `i`. Run 0 was the warm-up. Return the time of the slowest rank, where the time
// of a rank is the median of its other runs. Their number is odd.

// %% [start]
func summary(us [][]float64) float64 {
	sum, count := 0.0, 0
	for _, runs := range us {
		for _, t := range runs {
			sum += t
			count++
		}
	}
	return sum / float64(count)
}

// %% [hint]
// For one rank: `runs := slices.Clone(us[r][1:])`, `slices.Sort(runs)`, and then the one in the middle.

// %% [hint]
// The median of each rank first, and then the largest of these. The largest sample of all is a disturbance.

// %% [solution]
func summary(us [][]float64) float64 {
	slow := 0.0
	for _, all := range us {
		runs := slices.Clone(all[1:])
		slices.Sort(runs)
		slow = max(slow, runs[len(runs)/2])
	}
	return slow
}

// %% [wrong]
func summary(us [][]float64) float64 {
	slow := 0.0
	for _, all := range us {
		runs := slices.Clone(all)
		slices.Sort(runs)
		slow = max(slow, runs[len(runs)/2])
	}
	return slow
}

// %% [wrong]
func summary(us [][]float64) float64 {
	var runs []float64
	for _, all := range us {
		runs = append(runs, all[1:]...)
	}
	slices.Sort(runs)
	return runs[len(runs)/2]
}

// %% [wrong]
func summary(us [][]float64) float64 {
	slow := 0.0
	for _, all := range us {
		slow = max(slow, slices.Max(all[1:]))
	}
	return slow
}

// %% [check]
for _, c := range []struct {
	us   [][]float64
	want float64
	why  string
}{
	{[][]float64{{5, 3, 97, 3}, {5, 3, 3, 3}}, 3, "one disturbed run shall not count"},
	{[][]float64{{1, 2, 2, 2}, {1, 7, 7, 7}}, 7, "rank 1 is the slowest, in every run"},
	{[][]float64{{900, 5, 9, 1}, {900, 2, 2, 2}}, 5, "the warm-up shall not count, and the runs are in no order"},
	{[][]float64{{9, 4, 6, 5, 8, 4}, {9, 6, 6, 3, 3, 3}, {9, 2, 3, 4, 90, 1}}, 5, "the medians of the ranks are 5, 3 and 3"},
} {
	if got := summary(c.us); got != c.want {
		panic(fmt.Sprintf("summary(%v) is %v, not %v: %s", c.us, got, c.want, c.why))
	}
}
fmt.Println("correct")

// %% [markdown]
// ## What you know now
//
// - Measure on the device, many calls, warmed up and lined up; report the median and the slowest rank.
// - Floor first: an empty kernel, a trip, bytes over rate. Then see on which side of the roofline you are.
// - Bus bandwidth compares with links, algorithm bandwidth with your step.
// - Whoever is faster than the floor has measured something else.
//
// That was the last tutorial. `docs/benchmarks.md` shows the method at work, with what was tried and gained nothing. And the operations in the
// folder `kernels` are there to be read: you know all that is in them now.
//
// Read on: `symmrepl bench` on your own machine, and a kernel of your own beside it.
