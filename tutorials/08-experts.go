//go:build ignore

// Irregular all-to-all and mixture of experts: messages whose lengths only the GPU knows.

// %% [markdown]
// # Irregular all-to-all, and experts
//
// In an **all-to-all** each rank sends a part to each other rank. If all parts have the same length, every rank knows
// in advance where each part goes. Often they do not.
//
// The best-known example is a *mixture of experts*. A layer of a language model has many small networks, the experts,
// spread over the GPUs. A token is a piece of text, represented as a row of numbers. For each token, a *router* chooses
// a few experts, here two. So the token travels to the GPUs of its experts, is processed there, and travels back:
//
// ![Tokens travel to the ranks of their experts, and the results travel back.](picture:tokens)
//
//     router          dispatch          experts          combine
//     token 0 ──> 3,1        ╲  ╱       expert 0, 1       ╲  ╱      token 0 = weighted sum of
//     token 1 ──> 0,3         ╲╱        on rank 0          ╲╱                 the results of 3 and 1
//     token 2 ──> 3,0         ╱╲        expert 2, 3        ╱╲
//      …                     ╱  ╲       on rank 1         ╱  ╲       …
//
// The number of tokens for each GPU changes every time, and the router computes it *on the GPU*. If the host needed the
// number, the host would have to wait for the GPU, and then the GPU for the host. So the numbers stay on the GPU.
//
// First the exchange alone. Each rank has rows and a list of **splits**: the number of rows for rank 0, for rank 1, and so on.

// %% Rows 100*rank, 100*rank+1 …, and the number of rows for each rank.
rank, size := symm.Rank(), symm.WorldSize()
rows, counts := make([]int, size+2), make([]int, size)
for i := range rows {
	rows[i] = 100*rank + i
}
for p := range counts {
	counts[p] = (rank + 2*p) % 3
}
in := symm.Local(symm.I32, len(rows)).CopyFrom(rows)
splits := symm.Local(symm.I64, size).CopyFrom(counts)
counts

// %% The exchange.
out := symm.Empty(symm.I32, size+4).Fill(-1)
symm.Rendezvous(out)
came := symm.Local(symm.I64, 2, size)
symm.AllToAllVDev(in, out, splits, came)
out.Ints()

// %% [markdown]
// The received rows are sorted by their source rank: 0, 1 … from rank 0, 100 … from rank 1. The rest of `out` is unchanged, here -1.
//
// How many rows came from each rank? The receiver learns this only now, from `came`, also on the GPU: first the counts, then the offsets.

// %% The counts and the offsets for each source rank.
fmt.Println(came.Slice(0, 1).Ints(), came.Slice(1, 2).Ints())

// %% [markdown]
// One kernel does all of this. The ranks send each other their splits as packets, which you know from tutorial 07. Then
// each rank knows where its rows belong and stores them there.
//
// ## Mistakes
//
// The operation reads the splits on the device when it runs. So a mistake in them is found only then. All ranks report it, and no rows move.

// %% [fails] Rank 1 tries to send more rows than it has.
wrong := symm.Local(symm.I64, size).CopyFrom(counts)
if rank == 1 {
	wrong.Fill(3)
}
symm.AllToAllVDev(in, out, wrong, came)
symm.Synchronize()

// %% [fails] All ranks send all rows to rank 0, which has no room for so many.
greedy := make([]int, size)
greedy[0] = len(rows)
symm.AllToAllVDev(in, out, symm.Local(symm.I64, size).CopyFrom(greedy), came)
symm.Synchronize()

// %% [markdown]
// The second mistake is the usual one. `out` must have room for the worst case, since its size cannot change while the GPU runs.
//
// ## Experts
//
// Now the layer. Each rank has 4 tokens, which are rows of 4 numbers, and 2 experts. Expert `e` is on rank `e / 2`. Each token
// goes to two experts, so there are 8 *copies* of tokens: copies 0 and 1 belong to token 0, copies 2 and 3 to token 1, and so on.

// %% The tokens, and the expert that the router has chosen for each copy.
tokens, hidden, perRank := 4, 4, 2
experts, copies := perRank*size, 2*tokens
values, choices := make([]int, tokens*hidden), make([]int, copies)
for i := range values {
	values[i] = 100*(rank+1) + 10*(i/hidden) + i%hidden
}
for t := range tokens {
	choices[2*t] = (rank + 2*t) % (experts - 1)
	choices[2*t+1] = (choices[2*t] + 1) % (experts - 1)
}
x := symm.Local(symm.F32, tokens, hidden).CopyFrom(values)
choice := symm.Local(symm.I32, copies).CopyFrom(choices)
choices

// %% [markdown]
// In a real model, a matrix product and a kernel that picks the two largest values compute `choices`. Note that no token chooses the last expert. That happens.
//
// How many copies go to each rank? A plain `AllToAllVDev` would need that number for each rank.

// %% [exercise] Repair: splits for ranks
// `forRanks` is to count the copies for each rank: `splits[r]` is the number of copies whose expert is on rank `r`, and each rank has `per`
// experts, in order. A
// choice of -1 is a copy that goes to nobody. The kernel below has three mistakes. It is launched with one block of 128 threads.

// %% [start]
forRanks := symm.Compile(`
__global__ void forRanks(const int* choice, int copies, long long* splits, int ranks, int per) {
  int r = threadIdx.x;
  if (r < ranks) {
    for (int c = 0; c < copies; c++) splits[r] += choice[c] % per == r;
  }
}`)

// %% [hint]
// Experts 0 and 1 are on rank 0, experts 2 and 3 on rank 1. Which operator gives the rank?

// %% [hint]
// Launch it twice: the counts become twice as large. What must a sum begin with?

// %% [hint]
// In C++, as in Go, `-1 / 2` is 0. So a masked copy counts for rank 0, unless the kernel leaves it out.

// %% [solution]
forRanks := symm.Compile(`
__global__ void forRanks(const int* choice, int copies, long long* splits, int ranks, int per) {
  int r = threadIdx.x;
  if (r < ranks) {
    int n = 0;
    for (int c = 0; c < copies; c++) n += choice[c] >= 0 && choice[c] / per == r;
    splits[r] = n;
  }
}`)

// %% [check]
import "slices"

wanted := func(picks []int, per int) []int {
	n := make([]int, size)
	for _, e := range picks {
		if e >= 0 {
			n[e/per]++
		}
	}
	return n
}
counted := symm.Local(symm.I64, size)
for turn := range 4 {
	per, picks := 2+turn%2, make([]int, copies)
	for c := range picks {
		picks[c] = (5*c*c + 3*turn + rank) % (per * size)
	}
	if turn >= 2 {
		picks[turn], picks[copies-1] = -1, -1
	}
	counted.Fill(1000 * turn) // what the last launch has left
	forRanks.Launch(symm.Grid(1), symm.Block(128), symm.Local(symm.I32, copies).CopyFrom(picks), copies, counted, size, per)
	got, want := counted.Ints(), wanted(picks, per)
	bare := slices.Clone(picks)
	for c, e := range bare {
		bare[c] = max(e, 0)
	}
	over := slices.Clone(got)
	for r := range over {
		over[r] -= 1000 * turn
	}
	switch {
	case slices.Equal(got, want):
	case turn > 0 && slices.Equal(over, want):
		panic("the counts are added to what was in splits before: a launch must begin with 0")
	case turn >= 2 && slices.Equal(got, wanted(bare, per)):
		panic("copies with the choice -1 are counted for rank 0: they go to nobody")
	default:
		panic(fmt.Sprintf("of the choices %v, with %d experts on each rank, splits are %v; expert e is on rank e / %d", picks, per, got, per))
	}
}
picks, more := make([]int, copies), symm.Local(symm.I64, size+1).Fill(-1) // as if there were a rank more
for c := range picks {
	picks[c] = (c + rank) % (2*size + 2)
}
forRanks.Launch(symm.Grid(1), symm.Block(128), symm.Local(symm.I32, copies).CopyFrom(picks), copies, more, size+1, 2)
want := make([]int, size+1)
for _, e := range picks {
	want[e/2]++
}
if got := more.Ints(); !slices.Equal(got, want) {
	panic(fmt.Sprintf("it is right for %d ranks, but not for %d: splits are %v, not %v; the parameter ranks is their number", size, size+1, got, want))
}
symm.Meet() // kernels take longer on some ranks
fmt.Println("correct")

// %% [markdown]
// ### Route and pack
//
// The exchange needs the copies sorted by expert, and the number of copies for each expert. The first kernel computes
// these numbers and the position of each copy in that order. The second kernel moves the rows to these positions.

// %% Two kernels without communication.
text := `
__global__ void route(const int* choice, int copies, long long* splits, int experts, int* place) {
  int c = threadIdx.x;
  if (c < experts) {
    int n = 0;
    for (int d = 0; d < copies; d++) n += choice[d] == c;
    splits[c] = n;                                          // the number of copies for expert c
  }
  if (c < copies) {
    int before = 0;
    for (int d = 0; d < copies; d++) before += choice[d] < choice[c] || (choice[d] == choice[c] && d < c);
    place[c] = before;                                      // the number of copies before copy c
  }
}

// One block for each copy.
__global__ void pack(const float* x, const int* place, float* packed, int hidden) {
  int c = blockIdx.x;
  for (int j = threadIdx.x; j < hidden; j += blockDim.x) packed[place[c] * hidden + j] = x[c / 2 * hidden + j];
}`
route := symm.Compile(text)
pack := route.Kernel("pack")

splits = symm.Local(symm.I64, experts)
place := symm.Local(symm.I32, copies)
packed := symm.Local(symm.F32, copies, hidden)
route.Launch(symm.Grid(1), symm.Block(128), choice, copies, splits, experts, place)
pack.Launch(symm.Grid(copies), symm.Block(32), x, place, packed, hidden)
fmt.Println("splits", splits.Ints(), "places", place.Ints())

// %% [markdown]
// %% [exercise] Predict: the place of a copy
// A rank has six copies, for the experts 3, 1, 0, 3, 3, 0. They are sorted by expert, and copies for the same expert keep their order.
// Which place does copy 3 get, the
// second of those for expert 3? Copies and places count from 0.

// %% [start]
predict := 0.0

// %% [hint]
// How many copies are for the experts 0, 1 and 2? They all come before.

// %% [hint]
// Three copies are for smaller experts. Of the copies for expert 3, one comes before copy 3.

// %% [solution]
predict := 4

// %% [check]
placed := symm.Local(symm.I32, 6)
route.Launch(symm.Grid(1), symm.Block(128), symm.Local(symm.I32, 6).CopyFrom([]int{3, 1, 0, 3, 3, 0}), 6, symm.Local(symm.I64, 4), 4, placed)
truth := float64(placed.Ints()[3])
symm.Meet() // kernels take longer on some ranks
switch float64(predict) {
case truth:
	fmt.Println("correct")
case 0:
	panic("predict is still 0: the copies for expert 0 come first")
case 3:
	panic("3 is the place of copy 0, which is also for expert 3 and comes before copy 3")
case 5:
	panic("places count from 0: five copies in front would give place 5, and that is the place of copy 4")
case 1:
	panic("copy 3 is the second for its expert, but the copies for smaller experts come before all of those")
default:
	panic(fmt.Sprintf("not %v: count the copies for smaller experts, and those for expert 3 that come before copy 3", predict))
}

// %% [markdown]
// ### Dispatch
//
// `AllToAllVDev2D` is the exchange with several experts per rank. Rows arrive sorted by expert, and within an expert by
// source rank. The rows of an expert are its *region*. With `MajorAlign(4)`, each region begins at a multiple of 4 rows and
// has at least 4 rows, even for an expert that no token chose: such alignment suits the matrix products of real experts.
//
// How much room is needed? In the worst case all copies of all ranks arrive here, and each region is padded.

// %% Dispatch.
room := size*copies + perRank*4
arrived := symm.Empty(symm.F32, room, hidden)
symm.Rendezvous(arrived)
where := symm.Local(symm.I64, 2, experts)
symm.AllToAllVDev2D(packed, arrived, splits, where, symm.MajorAlign(4))
fmt.Println("rows", where.Slice(0, 1).Ints(), "begin", where.Slice(1, 2).Ints())

// %% [markdown]
// Each list has one number per source rank for the first expert, then one per source rank for the second. On the last
// rank the second part is all zeros: that is the expert that no token chose.
//
// ### The experts
//
// A real expert is two matrix products. Ours multiplies by a number: expert `e` by `e + 1`. One block handles one expert and finds its rows through `where`.

// %% One block for each expert of this rank.
expert := symm.Compile(`
__global__ void expert(float* rows, const long long* where, int ranks, int hidden, int first) {
  const long long *counts = where, *begins = where + gridDim.x * ranks;
  int e = blockIdx.x;
  long long n = 0;
  for (int p = 0; p < ranks; p++) n += counts[e * ranks + p];
  float* mine = rows + begins[e * ranks] * hidden;
  for (long long i = threadIdx.x; i < n * hidden; i += blockDim.x) mine[i] *= first + e + 1;
}`)
expert.Launch(symm.Grid(perRank), symm.Block(64), arrived, where, size, hidden, rank*perRank)

// %% [markdown]
// ### Combine
//
// The way back is `AllToAllVDev2DOffset`. It uses what the dispatch has written: where the rows are and where they came
// from. Each rank gets its copies back in the order in which it packed them.

// %% Combine: the way back.
back := symm.Empty(symm.F32, copies, hidden)
symm.Rendezvous(back)
returned := symm.Local(symm.I64, 2, experts)
symm.AllToAllVDev2DOffset(arrived, back, where, returned)

// compare counts the copies that have come back from the right expert.
func compare() string {
	got, at, chosen, token := back.Float32s(), place.Ints(), choice.Ints(), x.Float32s()
	right := 0
	for c := range copies {
		if got[at[c]*hidden] == token[c/2*hidden]*float32(chosen[c]+1) {
			right++
		}
	}
	return fmt.Sprint(right, " of ", copies, " copies came back right")
}
fmt.Println(compare())

// %% [markdown]
// ## Without the host
//
// All five steps are GPU work, and the host needed no number in between. (We printed some only to look at them.) So
// they can be captured in a *graph* and launched as a whole. Each replay reads the router's current choice.

// %% Capture the layer once.
func layer() {
	route.Launch(symm.Grid(1), symm.Block(128), choice, copies, splits, experts, place)
	pack.Launch(symm.Grid(copies), symm.Block(32), x, place, packed, hidden)
	symm.AllToAllVDev2D(packed, arrived, splits, where, symm.MajorAlign(4))
	expert.Launch(symm.Grid(perRank), symm.Block(64), arrived, where, size, hidden, rank*perRank)
	symm.AllToAllVDev2DOffset(arrived, back, where, returned)
}
graph := symm.Capture(layer)

// %% Now all tokens of all ranks choose experts 0 and 1, which are both on rank 0.
for c := range choices {
	choices[c] = c % 2
}
choice.CopyFrom(choices)
graph.Replay()
fmt.Println(compare())
fmt.Println("rows", where.Slice(0, 1).Ints())

// %% [markdown]
// Rank 0 did all the work, the other ranks none. The result is still right, because there was enough room. Balancing
// the work is the router's task: models are trained for that.
//
// ## A regular exchange that moves a dimension
//
// Some exchanges are regular but transpose the data. In *attention*, a rank has some positions of a text for all heads,
// and needs all positions for some heads. That is an all-to-all that also moves a dimension.

// %% Two positions for each rank, as many heads as ranks. The number is 10 * position + head.
mine := make([]int, 2*size)
for i := range mine {
	mine[i] = 10*(2*rank+i/size) + i%size
}
byPosition := symm.Empty(symm.I32, 2, size).CopyFrom(mine)
byHead := symm.Empty(symm.I32, 2*size, 1)
symm.Rendezvous(byPosition)
symm.Rendezvous(byHead)
symm.AllToAllPermute(byPosition, byHead, 1, 0) // scatter dimension 1, gather dimension 0
byHead.Ints()

// %% The way back.
byPosition.Fill(-1)
symm.AllToAllPermute(byHead, byPosition, 0, 1)
byPosition.Ints()

// %% [markdown]
// ## Your turn
//
// The copies are back, but the layer is not complete: each token needs *one* row, the weighted sum of the results of
// its two experts. The router gives each copy a weight.

// %% Weights for each copy, and memory for the result.
weights := make([]float64, copies)
for t := range tokens {
	weights[2*t] = 0.5 + 0.125*float64(t)
	weights[2*t+1] = 1 - weights[2*t]
}
weight := symm.Local(symm.F32, copies).CopyFrom(weights)
y := symm.Local(symm.F32, tokens, hidden)
weights

// %% [exercise] The weighted sum
// Write the kernel `weigh`. It is launched with one block for each token. Row `t` of `y` must be the sum of the two copies
// of token `t`, each multiplied by its `weight`. The copies are `2*t` and `2*t + 1`; `place` holds their rows in `back`.

// %% [start]
weigh := symm.Compile(`
__global__ void weigh(float* y, const float* back, const int* place, const float* weight, int hidden) {
  int t = blockIdx.x;
  for (int j = threadIdx.x; j < hidden; j += blockDim.x) y[t * hidden + j] = 0;
}`)

// %% [hint]
// Look at the kernel `pack`. It puts copy `c` into row `place[c]`. You find it there again.

// %% [hint]
// Element `j` of copy `c` is `back[place[c] * hidden + j]`.

// %% [hint]
// The sum has two terms, for `c = 2 * t` and `c = 2 * t + 1`. Each is `weight[c] * back[place[c] * hidden + j]`.

// %% [solution]
weigh := symm.Compile(`
__global__ void weigh(float* y, const float* back, const int* place, const float* weight, int hidden) {
  int t = blockIdx.x;
  for (int j = threadIdx.x; j < hidden; j += blockDim.x) {
    float sum = 0;
    for (int c = 2 * t; c < 2 * t + 2; c++) sum += weight[c] * back[place[c] * hidden + j];
    y[t * hidden + j] = sum;
  }
}`)

// %% [check]
for c := range choices { // the first choice is the higher one, so that copies change places
	choices[c] = experts - 1 - (rank+c)%experts
}
choice.CopyFrom(choices)
layer()
y.Fill(-1)
weigh.Launch(symm.Grid(tokens), symm.Block(32), y, back, place, weight, hidden)
result, raw, at := y.Float32s(), back.Float32s(), place.Ints()
found := make([]int, 5) // mistakes found, in the order of the messages below
for i, got := range result {
	t, j := i/hidden, i%hidden
	a, b := float32(values[i]*(choices[2*t]+1)), float32(values[i]*(choices[2*t+1]+1)) // the results of the experts
	wa, wb := float32(weights[2*t]), float32(weights[2*t+1])
	switch got {
	case wa*a + wb*b:
	case wa*raw[2*t*hidden+j] + wb*raw[(2*t+1)*hidden+j]:
		found[0] = 1
	case a + b:
		found[1] = 1
	case wa * a, wb * b:
		found[2] = 1
	case -1:
		found[3] = 1
	default:
		found[4] = 1
	}
}
verdict := symm.Empty(symm.I32, 5).CopyFrom(found)
symm.Rendezvous(verdict)
switch found = symm.AllReduce(verdict, "max").Ints(); {
case found[3] > 0:
	panic("some elements of y are not written: each block writes all elements of its row")
case found[4] > 0:
	panic("y has other numbers than weighted sums: each of the two copies c has a weight of its own, weight[c], and elements j of its own row")
case found[2] > 0:
	panic("y has the result of one expert; a token has two copies, whose rows are added")
case found[1] > 0:
	panic("y is a sum without weights; multiply each copy by its weight")
case found[0] > 0:
	panic("copy c is not in row c of back: the copies are sorted by expert, and place[c] is the row of copy c")
}

// On the emulated device the sanitizer grades your code. Its result does not depend on which rank comes first.
symm.Sanitize(true, 0)
symm.Findings() // those of before
weigh.Launch(symm.Grid(tokens), symm.Block(32), y, back, place, weight, hidden)
symm.Maybe(symm.Synchronize) // an access out of bounds fails
findings := symm.Findings()
symm.Sanitize(false, 0)
found = make([]int, 5)
found[0] = len(findings)
if symm.AllReduce(verdict.CopyFrom(found), "max").Ints()[0] > 0 {
	said := "the numbers are right, but the sanitizer finds wrong accesses"
	for _, f := range findings {
		said += "\n- " + f.String()
	}
	panic(said)
}
fmt.Println("correct")

// %% [markdown]
// ## A token switch
//
// Routing, packing, dispatch, combine and the weighted sum belong together, and all models need them. A `TokenSwitch` has them in one:
//
//     Routing     which token goes to which expert, on all ranks: counts and places
//     Dispatch    a token travels to each rank once, which copies it for its further experts
//     Combine     the results travel back, and are summed with the weights
//
// It keeps memory on all ranks, so it is made once. This one is for small batches, where the time of a trip counts: it has room for
// all tokens of all ranks, so nothing can overflow.

// %% A switch for our layer.
ts := symm.NewTokenSwitch(symm.TokenSwitchConfig{
	Mode: "low_latency", Layout: "expert_major",
	Experts: experts, TopK: 2, MaxTokens: tokens, Hidden: hidden, DType: symm.F32,
})
fmt.Println(ts)

// %% Route and dispatch. The router's choice is a tensor: one row for each token.
for c := range choices {
	choices[c] = (3*rank + c) % experts
}
chosen := symm.Local(symm.I64, tokens, 2).CopyFrom(choices)
r := ts.Routing(chosen)
d := ts.Dispatch(r, x, weight.View(tokens, 2))
fmt.Println("rows", d.Tokens.Shape(), "of which each expert has", d.Counts.Ints())

// %% [markdown]
// `d.Tokens` has a part for each expert of this rank, in which the expert's rows lie packed.
// `d.Counts` holds their numbers, on the GPU. So the kernel of the experts becomes simple. It works
// in place.

// %% The experts, and the way back with the weighted sum.
times := symm.Compile(`
__global__ void times(float* rows, const int* counts, long long most, int hidden, int first) {
  int e = blockIdx.x;
  for (int i = threadIdx.x; i < counts[e] * hidden; i += blockDim.x) rows[e * most * hidden + i] *= first + e + 1;
}`)
times.Launch(symm.Grid(perRank), symm.Block(64), d.Tokens, d.Counts, int64(d.Tokens.Shape()[1]), hidden, rank*perRank)
sums := ts.Combine(r, d.Tokens).Float32s()

same := 0
for i, got := range sums {
	t := i / hidden
	if got == float32(weights[2*t])*float32(values[i]*(choices[2*t]+1))+float32(weights[2*t+1])*float32(values[i]*(choices[2*t+1]+1)) {
		same++
	}
}
fmt.Println(same, "of", len(sums), "numbers are the weighted sums")

// %% [markdown]
// What does it do with mistakes? A choice of -1 masks a selection. An expert that does not exist is
// found on the device, like the wrong splits above: no rows move, and every rank reports which
// rank's token it was.

// %% [fails] The last rank sends its token 2 to an expert that nobody has.
if rank == size-1 {
	choices[5] = experts
}
ts.Dispatch(ts.Routing(chosen.CopyFrom(choices)), x, weight.View(tokens, 2))
symm.Synchronize()

// %% [markdown]
// ## What you know now
//
// - Splits can stay on the GPU. Then a layer with irregular exchanges is one graph.
// - The dispatch writes where rows came from, and the way back needs nothing else.
// - There must be room for the worst case. An expert that no token chooses is an ordinary case.
// - `symm.NewTokenSwitch` does all these steps, with layouts for small and for large batches.
//
// Rows whose size and address are multiples of 16 bytes are fastest. Times and comparisons are in `docs/benchmarks.md`;
// `docs/ops.md` has all forms of the exchange, with their names in PyTorch.
//
// Read on: `:tutorial 09` is about moving data while the GPU computes. Tutorial 15 does so with experts.
