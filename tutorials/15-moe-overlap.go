//go:build ignore

// A mixture-of-experts layer, overlapped: dispatch, grouped product, combine, and a shared expert beside them.

// %% [markdown]
// # A mixture-of-experts layer, overlapped
//
// Tutorial 08 built a layer of experts from its parts, and ended with a token switch. Many models
// add a **shared expert** that processes all tokens, each on its own rank. So a layer has work that
// needs the other ranks, and work that does not:
//
//     routing ─ dispatch ─ experts ─ combine ─┐
//     shared expert ──────────────────────────┴─ sum
//
// While tokens travel, the multiprocessors have little to do. The shared expert fills exactly that
// gap. In this tutorial you build the layer one step after the other, look at its timeline, and
// then overlap the steps.
//
// ![A layer of experts in turn, and two ways to overlap the shared expert.](picture:layer)
//
// It runs on one host and on two:
//
//     symmrepl tutorial 15 -n 4               the ranks of one host
//     symmrepl tutorial 15 -n 4 --hosts 2     the same, and tokens cross between two hosts, simulated on this machine
//
// Each rank has 24 tokens and 2 experts, and each token goes to 2 experts.

// %% The tokens, the router's choice and its weights: small integers, for which every order of summing is exact.
import "strings"

rank, size := symm.Rank(), symm.WorldSize()
tokens, hidden, perRank, top := 24, 32, 2, 2
experts := perRank * size
values, choices, weights := make([]int, tokens*hidden), make([]int, tokens*top), make([]int, tokens*top)
for i := range values {
	values[i] = (7*rank + 3*(i/hidden) + i%hidden) % 5
}
for i := range choices {
	t := i / top
	choices[i] = (rank + 2*t + t/experts + i%top) % experts
	weights[i] = 1 + (rank+i)%3
}
x := symm.Local(symm.F32, tokens, hidden).CopyFrom(values)
chosen := symm.Local(symm.I64, tokens, top).CopyFrom(choices)
weight := symm.Local(symm.F32, tokens, top).CopyFrom(weights)
choices[:8]

// %% [markdown]
// ## One step after the other
//
// This switch is for large batches, as in training. It has room for `MaxRecv` rows on each rank,
// regardless of their distribution over the experts, and the rows of each expert begin at a
// multiple of `Align`: such *zones* suit kernels that multiply tiles.

// %% The switch, and a first dispatch.
ts := symm.NewTokenSwitch(symm.TokenSwitchConfig{
	Mode: "high_throughput", Layout: "expert_major",
	Experts: experts, TopK: top, MaxTokens: tokens, Hidden: hidden, DType: symm.F32,
	MaxRecv: size*tokens*top + 8*perRank, Align: 8,
})
r := ts.Routing(chosen)
d := ts.Dispatch(r, x, weight)
fmt.Println("rows of each expert", d.Counts.Ints(), "begin at", d.Offsets.Ints()[:perRank])

// %% [markdown]
// ### The grouped product
//
// Each expert has its own matrix. One product for each expert would need many small launches, whose
// sizes the host does not know. So all products are one launch, a **grouped product**: it finds the
// zones from `d.Counts` and `d.Offsets`, on the GPU. Here one block handles one expert; a real
// kernel divides each zone among many blocks.
//
// With this layout the combine adds the rows without weights. The weights arrived with the rows, in
// `d.Weights`, and the grouped product applies them.

// %% The experts' matrices, and their products.
matrix := func(e int) []int { // expert e
	m := make([]int, hidden*hidden)
	for i := range hidden {
		m[i*hidden+(i+e)%hidden] = 1 + e%3
	}
	return m
}
var own []int
for e := range perRank {
	own = append(own, matrix(rank*perRank+e)...)
}
w := symm.Local(symm.F32, perRank, hidden, hidden).CopyFrom(own)
made := symm.Local(symm.F32, d.Tokens.Shape()...)
grouped := symm.Compile(`
__global__ void grouped(const float* rows, const float* weights, const int* counts, const int* offsets, const float* w, float* made, int hidden) {
  int e = blockIdx.x;
  for (int i = threadIdx.x; i < counts[e] * hidden; i += blockDim.x) {
    int row = offsets[e] + i / hidden, j = i % hidden;
    float sum = 0;
    for (int k = 0; k < hidden; k++) sum += rows[row * hidden + k] * w[(e * hidden + k) * hidden + j];
    made[row * hidden + j] = weights[row] * sum;
  }
}`)
product := func() { grouped.Launch(symm.Grid(perRank), symm.Block(256), d.Tokens, d.Weights, d.Counts, d.Offsets, w, made, hidden) }
product()
y := ts.Combine(r, made)
y.Slice(0, 1).Float32s()[:8]

// %% [markdown]
// ### Many blocks for an expert
//
// One block for each expert is slow when an expert has many rows. So the next kernel gives each zone to several blocks: block `x` of `gridDim.x`
// takes a part of the rows. The figure has the zones of three experts with 5, 0 and 7 rows. The rows between them are padding, whose numbers
// mean nothing:
//
// ![Zones of three experts: 5, 0 and 7 rows, which begin at multiples of 8.](picture:zones)
//
//     row        0 1 2 3 4 5 6 7 8 9 …      14
//     expert     0 0 0 0 0 · · · 2 2 2 2 2 2 2 ·
//     counts     5 0 7      offsets    0 8 8

// %% [exercise] Repair: the zones
// `zones` is to multiply like `grouped`, with several blocks for each expert: `blockIdx.y` is the expert, `blockIdx.x` the part of its rows.
// It has two mistakes. It is often right all the same, in tests where `Align` is 1 and everything divides evenly. Repair it. No row may
// be multiplied twice, and no row that is padding may be written.

// %% [start]
zones := symm.Compile(`
__global__ void zones(const float* rows, const float* weights, const int* counts, const int* offsets, const float* w, float* made, int hidden) {
  int e = blockIdx.y, part = blockIdx.x, parts = gridDim.x;
  int begin = 0;
  for (int b = 0; b < e; b++) begin += counts[b];
  int first = part * (counts[e] / parts), end = first + counts[e] / parts;
  for (int i = threadIdx.x; i < (end - first) * hidden; i += blockDim.x) {
    int row = begin + first + i / hidden, j = i % hidden;
    float sum = 0;
    for (int k = 0; k < hidden; k++) sum += rows[row * hidden + k] * w[(e * hidden + k) * hidden + j];
    made[row * hidden + j] = weights[row] * sum;
  }
}`)

// %% [hint]
// In the figure, the rows of expert 2 begin at 8. Where does the kernel look for them?

// %% [hint]
// An expert has 7 rows and 3 blocks. How many rows do the blocks take together?

// %% [hint]
// A zone begins at `offsets[e]`. For fair parts that leave nothing out, see tutorial 05: `first` is `counts[e] * part / parts`, and `end` is the
// same for `part + 1`.

// %% [solution]
zones := symm.Compile(`
__global__ void zones(const float* rows, const float* weights, const int* counts, const int* offsets, const float* w, float* made, int hidden) {
  int e = blockIdx.y, part = blockIdx.x, parts = gridDim.x;
  int first = counts[e] * part / parts, end = counts[e] * (part + 1) / parts;
  for (int i = threadIdx.x; i < (end - first) * hidden; i += blockDim.x) {
    int row = offsets[e] + first + i / hidden, j = i % hidden;
    float sum = 0;
    for (int k = 0; k < hidden; k++) sum += rows[row * hidden + k] * w[(e * hidden + k) * hidden + j];
    made[row * hidden + j] = weights[row] * sum;
  }
}`)

// %% [check]
var three []int // the matrices of three experts
for e := range 3 {
	three = append(three, matrix(e)...)
}
factors := symm.Local(symm.F32, 3, hidden, hidden).CopyFrom(three)
multiplied := func(counts, offsets []int, total, blocks int) { // panics if a row is wrong
	owner, in, scale := make([]int, total), make([]int, total*hidden), make([]int, total)
	for i := range total {
		owner[i] = -1 // padding
		scale[i] = 1 + i%5
		for j := range hidden {
			in[i*hidden+j] = (3*i + j*j) % 11
		}
	}
	for e, n := range counts {
		for i := range n {
			owner[offsets[e]+i] = e
		}
	}
	out := symm.Local(symm.F32, total, hidden).Fill(-1)
	zones.Launch(symm.Grid(blocks, len(counts)), symm.Block(64), symm.Local(symm.F32, total, hidden).CopyFrom(in), symm.Local(symm.F32, total).CopyFrom(scale),
		symm.Local(symm.I32, len(counts)).CopyFrom(counts), symm.Local(symm.I32, len(counts)).CopyFrom(offsets), factors, out, hidden)
	got := out.Float32s()
	for i, e := range owner {
		for j := range hidden {
			switch v := got[i*hidden+j]; {
			case e < 0 && v != -1:
				panic(fmt.Sprintf("row %d is padding, and the kernel wrote it: with counts %v, zones begin at %v, and zone e has counts[e] rows", i, counts, offsets))
			case e < 0:
			case v == -1:
				panic(fmt.Sprintf("expert %d has %d rows from row %d on, and row %d is left out with %d blocks", e, counts[e], offsets[e], i, blocks))
			case v != float32(scale[i]*(1+e%3)*in[i*hidden+(j-e+hidden)%hidden]):
				panic(fmt.Sprintf("row %d is wrong: it belongs to expert %d, whose matrix it is multiplied by, and has the weight %d", i, e, scale[i]))
			}
		}
	}
}
for _, blocks := range []int{1, 2, 3, 8} {
	multiplied([]int{5, 0, 7}, []int{0, 8, 8}, 16, blocks)
	multiplied([]int{8, 3, 1}, []int{0, 8, 16}, 24, blocks)
}

// On the emulated device the sanitizer grades your code.
symm.Sanitize(true, 0)
symm.Findings() // those of before
multiplied([]int{5, 0, 7}, []int{0, 8, 8}, 16, 3)
symm.Meet()
findings := symm.Findings()
symm.Sanitize(false, 0)
if len(findings) > 0 {
	said := "the rows are right, but the sanitizer finds accesses that nothing orders: every row belongs to one block"
	for _, f := range findings {
		said += "\n- " + f.String()
	}
	panic(said)
}
fmt.Println("correct")

// %% [markdown]
// ### The shared expert
//
// It is an ordinary product, `x × v`, of this rank's tokens. Then its result is added to the
// combined rows.

// %% A product, and what it is added to.
v, shared, result := symm.Local(symm.F32, hidden, hidden).Fill(1), symm.Local(symm.F32, tokens, hidden), symm.Local(symm.F32, tokens, hidden)

// want is the layer by the host, token by token.
want := make([]float32, tokens*hidden)
for t := range tokens {
	row, all := values[t*hidden:(t+1)*hidden], 0
	for _, one := range row {
		all += one
	}
	for j := range hidden {
		sum := all
		for k := range top {
			e := choices[t*top+k]
			sum += weights[t*top+k] * (1 + e%3) * row[(j-e%hidden+hidden)%hidden]
		}
		want[t*hidden+j] = float32(sum)
	}
}
wanted := symm.Local(symm.F32, tokens, hidden).CopyFrom(want)
compare := func() string {
	return fmt.Sprint(result.Eq(wanted).Sum().Item(), " of ", len(want), " numbers are right")
}

// %% [markdown]
// ## A timeline
//
// To see when each step runs, we record an event before and after it, on the step's stream. After
// the layer, the times since the first event give a line for each step. (The command `:trace` does
// this for any cell. It also shows the waits for other ranks.)

// %% Steps between events, and a picture of them.
names := []string{"routing", "dispatch", "experts", "combine", "shared", "sum"}
begins, ends := map[string]*symm.Event{}, map[string]*symm.Event{}
for _, name := range names {
	begins[name], ends[name] = symm.NewEvent(), symm.NewEvent()
}
start := symm.NewEvent()

func step(name string, f func()) {
	begins[name].Record()
	f()
	ends[name].Record()
}

func picture() {
	symm.Synchronize()
	last := time.Duration(1)
	for _, name := range names {
		last = max(last, ends[name].Since(start))
	}
	column := func(e *symm.Event) int { return int(60 * e.Since(start) / last) }
	for _, name := range names {
		from, to := column(begins[name]), column(ends[name])
		fmt.Printf("%-9s|%s%s%s|\n", name, strings.Repeat(" ", from), strings.Repeat("█", max(to-from, 1)), strings.Repeat(" ", max(60-max(to, from+1), 0)))
	}
}

// %% One step after the other.
func layer() {
	start.Record()
	step("routing", func() { r = ts.Routing(chosen) })
	step("dispatch", func() { d = ts.Dispatch(r, x, weight) })
	step("experts", product)
	step("combine", func() { y = ts.Combine(r, made) })
	step("shared", func() { symm.MatMul(shared, x, v) })
	step("sum", func() { y.Add(shared, symm.Into(result)) })
}
result.Fill(-1)
layer()
fmt.Println(compare())

// %% [varies] The picture of rank 0: a staircase.
layer()
if rank == 0 {
	picture()
}

// %% [markdown]
// ## Beside the combine
//
// The shared expert needs no data of other ranks, so it can run on a second stream (tutorial 09).
// It begins together with the combine, the step that waits for the other ranks' experts:
//
//     main stream    routing ─ dispatch ─ experts ─ combine ──────── wait ─ sum
//                                              │                      │
//     side stream                              wait ─ shared ─ record

// %% [exercise] Predict: the time of a layer
// Suppose that routing takes 10 µs, the dispatch 40, the experts 100, the combine 40, the shared expert 60 and the sum 5, that steps beside
// each other do not slow each other down, and that the layer is
// ordered as above. How many µs does it take?

// %% [start]
predict := 0.0

// %% [hint]
// Which steps are one after the other? Which two begin at the same time?

// %% [hint]
// The sum waits for both of the two: for the one that ends last.

// %% [solution]
predict := 215.0

// %% [check]
switch truth := 10.0 + 40 + 100 + max(40, 60) + 5; float64(predict) {
case truth:
	fmt.Println("correct")
case 0:
	panic("predict is still 0: add up the steps, with the two that run beside each other")
case 255:
	panic("255 is the time of the staircase: the shared expert runs beside the combine")
case 195:
	panic("195 would be right if the sum did not wait for the shared expert, which takes longer than the combine")
case 210:
	panic("the sum comes after both")
default:
	panic(fmt.Sprintf("not %v: of the two steps beside each other the longer one counts, and all others follow one another", predict))
}

// %% The combine on the main stream, the shared expert beside it.
side := symm.NewStream()
ready, done := symm.NewEvent(), symm.NewEvent()

func overlapped() {
	start.Record()
	step("routing", func() { r = ts.Routing(chosen) })
	step("dispatch", func() { d = ts.Dispatch(r, x, weight) })
	step("experts", product)
	ready.Record()
	symm.OnStream(side, func() {
		ready.Wait()
		step("shared", func() { symm.MatMul(shared, x, v) })
		done.Record()
	})
	step("combine", func() { y = ts.Combine(r, made) })
	done.Wait()
	step("sum", func() { y.Add(shared, symm.Into(result)) })
}
result.Fill(-1)
overlapped()
fmt.Println(compare())

// %% [varies] The picture of rank 0: the shared expert has left the staircase.
overlapped()
if rank == 0 {
	picture()
}

// %% [markdown]
// Why is the result the same? The event `done` orders the sum after the shared expert. The event
// `ready` orders the shared expert after the sum of the previous layer: without it, `shared` could
// be overwritten too early.
//
// On the emulated device the pictures show little more than the beginnings of the steps, because
// one processor does everything. On a GPU look also at the durations: the combine is a kernel,
// which occupies multiprocessors while it waits. So use your own sizes; `:trace overlapped()` shows
// which rank waits for which.
//
// ## Beside the dispatch
//
// Ranks also wait in the dispatch. `DispatchSend` sends the tokens and does not wait for the tokens
// of others; `Complete` does. Work that you enqueue between the two runs while rows travel, even on
// the same stream.

// %% The parts of the layer after its routing, as variables: send the tokens, multiply by the shared expert, wait for the tokens, and the rest.
limit := symm.Timeout(3 * time.Second)
send := func() { d = ts.DispatchSend(r, x, weight, limit) }
multiply := func() { symm.MatMul(shared, x, v) }
complete := func() { ts.Complete(d, limit) }
rest := func() { // needs the tokens, and the shared expert's result
	product()
	ts.Combine(r, made, limit).Add(shared, symm.Into(result))
}

// %% [exercise] Between sending and waiting
// Write `early`, the part of the layer after the routing. The shared expert must run while tokens
// travel. Call `send`, `multiply`, `complete` and `rest`, each once, on the main stream.

// %% [start]
func early() {
	send()
	complete()
	multiply()
	rest()
}

// %% [hint]
// In the given code the shared expert begins when the tokens of all ranks have arrived. Then no
// token travels any more.

// %% [hint]
// It must not come before `send` either: the other ranks would wait for this rank's tokens while it multiplies.

// %% [solution]
func early() {
	send()
	multiply()
	complete()
	rest()
}

// %% [check]
symm.Recover() // ends waits that an earlier answer left
gate := symm.Empty(symm.I32, 1)
hGate := symm.Rendezvous(gate)
verdict := symm.Empty(symm.I32, 1)
symm.Rendezvous(verdict)
realSend, realMultiply, realComplete := send, multiply, complete
try := func() (failed bool) { // on any rank
	wrong := 0
	if symm.Maybe(func() {
		r = ts.Routing(chosen, limit)
		early()
		symm.Synchronize()
	}) != nil {
		wrong = 1
	}
	symm.Recover()
	send, multiply, complete = realSend, realMultiply, realComplete
	return symm.AllReduce(verdict.Fill(wrong), "max").Ints()[0] > 0
}

// The last rank's shared expert waits until rank 0 has all tokens: so it must not come before its send.
result.Fill(-1)
shared.Fill(-1)
if size > 1 && rank == size-1 {
	multiply = func() { hGate.WaitSignal(0, 0, limit); realMultiply() }
}
if size > 1 && rank == 0 {
	complete = func() { realComplete(); hGate.PutSignal(size-1, 0, limit) }
}
if try() {
	panic("the layer fails or does not end: send first, since others wait for this rank's tokens, and complete before rest, each once")
}
wrong := 0
if compare() != fmt.Sprint(len(want), " of ", len(want), " numbers are right") {
	wrong = 1
}
if symm.AllReduce(verdict.Fill(wrong), "max").Ints()[0] > 0 {
	panic("the result is wrong: call send, multiply, complete and rest once each, and rest at the end")
}

// The last rank sends when rank 0's shared expert has begun: so that must not wait for tokens.
if size > 1 && rank == size-1 {
	send = func() { hGate.WaitSignal(0, 1, limit); realSend() }
}
if size > 1 && rank == 0 {
	multiply = func() { hGate.PutSignal(size-1, 1, limit); realMultiply() }
}
if try() {
	panic("the shared expert waits for the tokens of other ranks: call it before complete")
}
fmt.Println("correct")

// %% [markdown]
// ## What you know now
//
// - A layer of experts is four calls and a grouped product, and the host does not need any size.
// - Put work that needs no other rank beside a combine, on a second stream, or between
//   `DispatchSend` and `Complete`.
// - A timeline shows when each step runs and which rank it waits for.
//
// The layouts of a switch are in `docs/ops.md`; their cost is in `docs/benchmarks.md`, and
// `symmrepl bench token_switch` measures it on your machine. With `"high_throughput"` a token
// crosses to each other host only once: see `docs/hosts.md`.
//
// Read on: `:tutorial 17` carries a kernel to PyTorch, and tensors there and back. `tutorials/fsdp.go` is a step of sharded
// training.
