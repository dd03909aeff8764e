//go:build ignore

// Measure like you mean it: floors, medians, graphs, bandwidths, and what not to trust.

// %% [markdown]
// # Measure like you mean it
//
// "Mine is faster" is easily said, and often wrong. A figure is useful if three questions have an answer:
//
// 1. **What was measured?** The call, the launch, or the work? On one rank, or on the slowest?
// 2. **What is the floor?** How long would it take if only the hardware's limits counted?
// 3. **Would I get the same figure again**, and is the result right?
//
// In this tutorial you build a measurement that answers them. Without a GPU its figures describe the emulated
// device and mean nothing. The method is the same. Start it on one host: it measures one-shot operations, which stay inside a host.

// %% A vector for each rank, and a kernel that runs for a given time.
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
// ## What a stopwatch measures
//
// A call puts work into the stream and returns. A stopwatch around the call measures how long the host took to *issue* it.

// %% A kernel of 50 ms. Which stopwatch sees all of it?
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
// `symm.Elapsed(f)` is better. It puts a mark into the stream, calls `f`, puts another mark, and gets the time between
// the marks from the device. The way to the host and back is not included.

// %% The device's own clock.
took := symm.Elapsed(func() { nap.Launch(symm.Grid(1), symm.Block(1), uint64(50e6)) })
fmt.Println("the device says", took)
fmt.Println("the whole kernel was seen:", took > 45*time.Millisecond)

// %% [markdown]
// ## One sample is not enough
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
// The first call may load a kernel, and finds cold caches and low clocks: *warm up*, and do not count it. Some of the other
// samples are disturbed by another process, an interrupt or a clock change. One such sample spoils a mean, but not the median:

// %% Nine times 3 µs, once 97 µs.
disturbed := []float64{3, 3, 3, 3, 97, 3, 3, 3, 3, 3}
mean := 0.0
for _, us := range disturbed {
	mean += us / float64(len(disturbed))
}
slices.Sort(disturbed)
fmt.Printf("mean %.1f µs, median %.1f µs\n", mean, disturbed[len(disturbed)/2])

// %% [markdown]
// The best sample is useful, too: it shows what the hardware can do. The median is what users get. State which one you report.
//
// ## Ranks
//
// Each rank measures its own time, which includes the *wait for the others*. Here rank 0 arrives 50 ms late.

// %% Ranks that arrive in time wait.
h.Barrier(0)
if rank == 0 {
	nap.Launch(symm.Grid(1), symm.Block(1), uint64(50e6))
}
fmt.Println("rank", rank, "measures", symm.Elapsed(call))

// %% [markdown]
// The late rank has the *best* figure: when it arrived, all data was there. So synchronise the ranks by a barrier right before the
// first mark, measure many calls between two marks, and report the slowest rank. An operation is done when the last rank is done.
//
// `slowest` returns the largest figure of all ranks, on every rank.

// %% The slowest rank's figure, by an all-reduce.
figure := symm.Empty(symm.F64, 1)
symm.Rendezvous(figure)
slowest := func(us float64) float64 {
	figure.Fill(us)
	return symm.AllReduce(figure, "max").Float64s()[0]
}
slowest(float64(10 * rank))

// %% [markdown]
// ## The complete measurement
//
// A graph of many calls excludes the host time between them (tutorial 10). Only the operation is left. `eager`, one
// call after the other, is the time of a program without capture. Both are fair. State which one you report.

// %% Warm up, synchronise, many calls in a graph, the median of runs, the slowest rank.
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
// Is that good? Compared with what? With the least that the hardware allows:
//
//     floor = an empty kernel + one trip to a peer + bytes that must cross / bandwidth of the link
//
// Each of the three terms can be measured separately. The trip is half of a ping-pong between two ranks:

// %% Three small measurements: an empty kernel, a trip, a bandwidth.
parts := symm.Compile(`
__global__ void empty() {}

__global__ void bounce(symm::Handle h, int n) {
  if (h.rank > 1) return;
  for (int i = 1; i <= n; i++) {
    if (h.rank == 0) symm::store_release(h.word(1 % h.world_size, 0), (symm::u64)i);
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
// Now compare. GB are 10⁹ bytes, so bytes per µs are MB/s. Each rank must receive `(size-1)` vectors of 4 KiB:

// %% [varies] How far from the floor?
rate := float64(big) / putUs // bytes per µs
floorUs := emptyUs + tripUs + float64((size-1)*4*n)/rate
callUs := measure(call)
fmt.Printf("the link: %.1f GB/s; floor %.2f µs, measured %.2f µs, %.0f %% of it is the floor\n", rate/1e3, floorUs, callUs, 100*floorUs/callUs)

// %% [markdown]
// On the emulated device the floor is far away, because computing takes most of the time there.
// Here is the same comparison for four H200s. In `docs/benchmarks.md` an empty kernel takes 0.47 µs
// there, a trip 0.64 µs, and copies to all peers reach 380 GB/s. The measured times are from the
// same page; an all-reduce sends a message of `S` bytes `2(N-1)/N` times.

// %% AllReduce on four H200s: floor and measurement.
// The figures come from docs/benchmarks.md.
const emptyH200, tripH200, rateH200 = 0.47, 0.64, 380e3 // µs, µs, bytes per µs
sent := 2 * float64(4-1) / 4
floorH200 := func(bytes float64) float64 { return emptyH200 + tripH200 + bytes*sent/rateH200 }
for _, row := range [][]float64{{4 << 10, 2.67}, {64 << 10, 3.46}, {1 << 20, 8.74}, {16 << 20, 79.69}, {256 << 20, 1158.78}} {
	floor := floorH200(row[0])
	fmt.Printf("%9.0f bytes: floor %7.2f µs, measured %7.2f µs, share %2.0f %%\n", row[0], floor, row[1], 100*floor/row[1])
}
fmt.Printf("the trip costs as much as %.0f KB\n", (emptyH200+tripH200)*rateH200/sent/1e3)

// %% [markdown]
// The last line separates two regions. This picture is called a *roofline*:
//
// ![The share of the link that an all-reduce can use, by its size: first it grows with the bytes, then the link is full.](picture:roofline)
//
//     share of the link's bandwidth
//     1 │                     ┌──────────────   bandwidth-bound:
//       │                  ／                    send fewer bytes, fill the links
//       │               ／
//       │            ／                          latency-bound:
//       │         ／                             fewer trips, fewer launches
//       └──────────────────┼─────────────────
//        4 KB           281 KB          256 MB
//
// Far to the left, a faster copy gains nothing: of the 2.67 µs for 4 KiB (`docs/benchmarks.md`), the bytes take less than a hundredth.
// Far to the right, an extra launch does not matter. **First find out on which side you are**, then
// optimise.
//
// And predict the result of each change: "this removes one trip, so two thirds of a µs". If it gains that, your model is right.
// If it gains 2 µs, your model is wrong, and you should find out why.
//
// ## Two bandwidths
//
// Bytes divided by time is the *algorithm bandwidth*. It depends on the number of ranks, even if every link is fully
// used. The *bus bandwidth* corrects for that, so that you can compare it with the link:
//
//     operation                                 bus / algorithm
//     all-reduce                                2(N-1)/N
//     all-gather, reduce-scatter, all-to-all    (N-1)/N
//     broadcast                                 1
//
// The bytes are the larger of a rank's input and output: for an all-gather the output.

// %% [exercise] Bus bandwidth
// Write `bus(op, ranks, bytes, us)`, which returns the bus bandwidth in GB/s. `op` is `"all-reduce"`, `"all-gather"`, `"reduce-scatter"`,
// `"all-to-all"` or `"broadcast"`; `us` is the time in microseconds. A GB is 10⁹ bytes.

// %% [start]
func bus(op string, ranks, bytes int, us float64) float64 {
	return float64(bytes) / us / 1e3
}

// %% [hint]
// The given function returns the algorithm bandwidth: bytes per µs are 10⁶ bytes per second, and a thousand of them are
// 1 GB/s. Only the factor is missing.

// %% [hint]
// `switch op { case "all-reduce": … }`; a broadcast needs no case.

// %% [hint]
// In Go, `3/4` is 0: integer division drops the remainder. Convert `ranks` to `float64` first.

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

// %% [check]
for _, c := range []struct {
	op           string
	ranks, bytes int
	us, want     float64 // the times are those of docs/benchmarks.md
}{
	{"broadcast", 4, 64 << 20, 193.6, 347},
	{"all-reduce", 2, 256 << 20, 748.55, 359},
	{"all-reduce", 4, 256 << 20, 1158.78, 347},
	{"all-gather", 4, 256 << 20, 575.2, 350},
	{"reduce-scatter", 4, 64 << 20, 165.5, 304},
	{"all-to-all", 4, 64 << 20, 149.9, 336},
	{"all-to-all", 2, 64 << 20, 103.3, 325},
	{"all-gather", 8, 64 << 20, 200, 294}, // not measured
	{"reduce-scatter", 8, 64 << 20, 250, 235},
} {
	got, why := bus(c.op, c.ranks, c.bytes, c.us), "the table above has the factor of each operation"
	algorithm := float64(c.bytes) / c.us / 1e3
	near := func(want float64) bool { return math.Abs(got-want) < want/200 }
	switch {
	case near(c.want):
		continue
	case bus("all-gather", 4, c.bytes, c.us) == 0:
		why = "is a quotient of integers taken? 3/4 is 0 in Go"
	case near(algorithm):
		why = "that is the algorithm bandwidth, without the factor of " + c.op
	case near(c.want * 1e9 / (1 << 30)):
		why = "a GB is 1e9 bytes, not 1<<30"
	case near(c.want * 1e3), near(c.want / 1e3), near(c.want * 1e6), near(c.want / 1e6):
		why = "look at the units: us is in microseconds, the result in GB/s"
	}
	panic(fmt.Sprintf("bus(%q, %d, %d, %v) is %.4g, not %.0f GB/s: %s", c.op, c.ranks, c.bytes, c.us, got, c.want, why))
}
fmt.Println("correct")

// %% [markdown]
// The times in the check were measured on H200s (`docs/benchmarks.md`), whose copies reach 380 GB/s. All results are below that. This is the
// best test of a measurement:
//
// **If it is faster than the floor, you have measured something else.**
//
// ## Fast and wrong
//
// A colleague has written an all-reduce that is `N` times as fast as ours. Check its result before you look at its time.

// %% The time of a wrong result means nothing.
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
right := symm.Reduce("sum(x0 == x1)", y, size*(size+1)/2)
fmt.Println(right.Item(), "of", n, "sums are right")

// %% [markdown]
// It sums one slice and leaves out the rest. Always check the result of the calls that you measure, with data that exposes mistakes:
// different on each rank, never all zeros. And overwrite the output first, or you may find the right result of an earlier call in it.
//
// ## What not to trust
//
// - **The first call.** It compiles, loads and maps.
// - **A stopwatch without Synchronize.**
// - **One rank's time**, and the mean over ranks.
// - **Yesterday's figure of the other implementation.** Clocks, temperatures and neighbours change figures by some percent. Measure both in one run, alternately.
// - **A small buffer used repeatedly.** It stays in a cache (50 MB on an H200): right only if your program does that, too.
// - **A convenient size.** Powers of two, multiples of the number of ranks: measure 1000003 as well.
// - **Your own wish.** Write down the prediction first.
//
// `symmrepl bench` uses the method of `measure`. In a shell:
//
//     symmrepl bench all_reduce -n 4 --sizes 4K,1M,64M --peers
//
// It prints the three terms of the floor first. Then it prints for each size the floor (`limit`), a call in a graph and
// eager, both bandwidths, and the bus bandwidth's share of the link. `--peers` measures PyTorch and NCCL in the same
// run, if python3 finds torch. `--svg FILE` draws the bandwidth over the sizes, with the link's limit: your roofline.
//
// ## Summing up
//
// The last exercise is the core of `measure`: many samples on many ranks give one figure.

// %% [exercise] One figure
// Write `summary(us)`. `us[r][i]` is the time that rank `r` measured in run `i`. Run 0 was the warm-up. Return the time
// of the slowest rank, where the time of a rank is the median of its other runs. Their number is odd.

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
// For one rank: `runs := slices.Clone(us[r][1:])`, `slices.Sort(runs)`, then the middle element.

// %% [hint]
// First the median of each rank, then the largest of these medians. The largest of all samples is a disturbance.

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

// %% [check]
disturbed3 := [][]float64{{900, 9, 1, 2, 4, 3}, {900, 19, 11, 12, 14, 13}, {900, 9, 1, 2, 4, 3}} // the median of rank 1 is 13
if got := summary(disturbed3); got != 13 {
	why, known := map[float64]string{
		14: "run 0 was the warm-up, which must not count",
		19: "the slowest run of all was disturbed; take the median of each rank",
		11: "the best run shows what the hardware can do; take the median of each rank",
		12: "the runs are not sorted, so the middle one is not their median",
		4:  "that is the median of all runs together; first the median of each rank, then the slowest rank",
		3:  "rank 1 is the slowest; an operation is done when the last rank is done",
	}[got]
	if !known {
		why = "leave out run 0, take the median of each rank, and then the largest of these"
	}
	panic(fmt.Sprintf("summary(%v) is %.4g, not 13: %s", disturbed3, got, why))
}
for want, us := range map[float64][][]float64{5: {{9, 4, 6, 5, 8, 4}, {9, 6, 6, 3, 3, 3}, {9, 2, 3, 4, 90, 1}}, 7: {{1, 7}}} {
	if got := summary(us); got != want {
		panic(fmt.Sprintf("summary(%v) is %v, not %v: the number of ranks and of runs can be any", us, got, want))
	}
}
fmt.Println("correct")

// %% [markdown]
// ## What you know now
//
// - Measure on the device: many calls, after a warm-up and a barrier; report the median and the slowest rank.
// - First the floor: an empty kernel, a trip, bytes divided by bandwidth. Then find your side of the roofline.
// - Compare bus bandwidth with links, algorithm bandwidth with your step.
// - If it is faster than the floor, you have measured something else.
//
// `docs/benchmarks.md` applies the method, and `docs/notes/tuning.md` lists what was tried without gain. You can
// also read the operations in the folder `kernels`.
//
// Read on: `:tutorial 13` builds an all-reduce for several hosts, and measures it.
