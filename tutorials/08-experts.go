//go:build ignore

// Irregular all-to-all and mixture of experts: messages whose lengths only the GPU knows.

// %% [markdown]
// # Irregular all-to-all, and experts
//
// In an **all-to-all** each rank has something for each other rank. As long as all parts are equally long, everybody knows beforehand where each part
// goes. Often they are not.
//
// The best-known example is a *mixture of experts*. A layer of a language model has many small networks, the experts, spread over the GPUs. For each token, which
// is a piece of text as a row of numbers, a *router* chooses a few of them, here two. So the token travels to the GPUs of its experts, is worked on, and travels
// back:
//
//     router          dispatch          experts          combine
//     token 0 ──> 3,1        ╲  ╱       expert 0, 1       ╲  ╱      token 0 = weighted sum of
//     token 1 ──> 0,3         ╲╱        on rank 0          ╲╱                 what 3 and 1 say
//     token 2 ──> 3,0         ╱╲        expert 2, 3        ╱╲
//      …                     ╱  ╲       on rank 1         ╱  ╲       …
//
// How many tokens go to which GPU is different each time, and the router computes it *on the GPU*. If the host had to know, it would have to wait for the
// GPU, and the GPU then for the host. So the numbers stay where they are.
//
// First the exchange alone. Each rank has rows, and a list of **splits**: so many rows for rank 0, then so many for rank 1, and so on.

// %% Rows 100*rank, 100*rank+1 …, and how many of them go to each rank.
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
// What came lies there in the order of the ranks it came from: 0, 1 … from rank 0, 100 … from rank 1. The rest of `out` is as it was, -1 here.
//
// How many rows came from whom? That was not known before, and it is in `came` now, on the GPU too: first how many, then where they begin.

// %% How many from each rank, and where they begin.
fmt.Println(came.Slice(0, 1).Ints(), came.Slice(1, 2).Ints())

// %% [markdown]
// One kernel does it all. The ranks send each other their splits as packets, which you know from tutorial 07. Then each rank knows where its rows
// belong, and stores them there.
//
// ## Mistakes
//
// The splits are read on the device, when the operation runs. So a mistake in them cannot be found earlier. All ranks find it then, and nothing is moved.

// %% [fails] Rank 1 wants to send more rows than it has.
wrong := symm.Local(symm.I64, size).CopyFrom(counts)
if rank == 1 {
	wrong.Fill(3)
}
symm.AllToAllVDev(in, out, wrong, came)
symm.Synchronize()

// %% [fails] Everybody sends all to rank 0, which has no room for so much.
greedy := make([]int, size)
greedy[0] = len(rows)
symm.AllToAllVDev(in, out, symm.Local(symm.I64, size).CopyFrom(greedy), came)
symm.Synchronize()

// %% [markdown]
// The second one is the usual mistake. `out` must have room for the worst that can come, since nobody can make it longer while the GPU runs.
//
// ## Experts
//
// Now the layer. Each rank has 4 tokens, which are rows of 4 numbers, and 2 experts. Expert `e` lives on rank `e / 2`. Each token goes to two experts, so there
// are 8 *copies* of tokens: copies 0 and 1 are of token 0, copies 2 and 3 of token 1, and so on.

// %% The tokens, and the experts that the router has chosen for each copy.
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
// In a real model `choices` come from a matrix product and a kernel that picks the two largest. Note that nobody chooses the last expert. That happens.
//
// ### Route and pack
//
// The exchange wants the copies sorted by expert, and the number of copies for each. The first kernel computes these numbers, and the place
// of each copy in that order. The second one puts the rows there.

// %% Two kernels without communication.
text := `
__global__ void route(const int* choice, int copies, long long* splits, int experts, int* place) {
  int c = threadIdx.x;
  if (c < experts) {
    int n = 0;
    for (int d = 0; d < copies; d++) n += choice[d] == c;
    splits[c] = n;                                          // so many for expert c
  }
  if (c < copies) {
    int before = 0;
    for (int d = 0; d < copies; d++) before += choice[d] < choice[c] || (choice[d] == choice[c] && d < c);
    place[c] = before;                                      // copy c comes after so many others
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
// ### Dispatch
//
// `AllToAllVDev2D` is the exchange with several experts on each rank. Rows arrive sorted by expert, and within an expert by the rank they come from. An
// expert's rows are called its *region*. `MajorAlign(4)` makes each region begin at a multiple of 4 rows and gives it 4 at least, even the one of an
// expert that nobody has chosen: the matrix products of real experts like it that way.
//
// How much room? In the worst case all copies of all ranks come here, and each region is padded.

// %% Dispatch.
room := size*copies + perRank*4
arrived := symm.Empty(symm.F32, room, hidden)
symm.Rendezvous(arrived)
where := symm.Local(symm.I64, 2, experts)
symm.AllToAllVDev2D(packed, arrived, splits, where, symm.MajorAlign(4))
fmt.Println("rows", where.Slice(0, 1).Ints(), "begin", where.Slice(1, 2).Ints())

// %% [markdown]
// Each list has the first expert's part, one number for each rank, and then the second one's. On the last rank the second part is all zeros: the expert
// that nobody has chosen.
//
// ### The experts
//
// Real experts are two matrix products each. Ours multiply by a number: expert `e` by `e + 1`. A block works for one expert. It finds its rows by `where`.

// %% A block for each expert of this rank.
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
// The way back is `AllToAllVDev2DOffset`. It takes what the dispatch has written: where the rows are, and where they came from. Each rank gets its copies
// back in the order in which it had packed them.

// %% And back.
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
// All five steps are work for the GPU, and nobody looked at a number in between. (We printed some, out of curiosity.) So they can be captured in a
// *graph*, which is launched as a whole. Each replay reads the router's choice anew.

// %% Capture the layer once.
func layer() {
	route.Launch(symm.Grid(1), symm.Block(128), choice, copies, splits, experts, place)
	pack.Launch(symm.Grid(copies), symm.Block(32), x, place, packed, hidden)
	symm.AllToAllVDev2D(packed, arrived, splits, where, symm.MajorAlign(4))
	expert.Launch(symm.Grid(perRank), symm.Block(64), arrived, where, size, hidden, rank*perRank)
	symm.AllToAllVDev2DOffset(arrived, back, where, returned)
}
graph := symm.Capture(layer)

// %% Now all tokens of all ranks choose experts 0 and 1, which both live on rank 0.
for c := range choices {
	choices[c] = c % 2
}
choice.CopyFrom(choices)
graph.Replay()
fmt.Println(compare())
fmt.Println("rows", where.Slice(0, 1).Ints())

// %% [markdown]
// Rank 0 had all the work, and the others had none. The result is right all the same, because there was room. To share the work is the router's task:
// models are trained so that it does.
//
// ## A regular relative
//
// Some exchanges are regular, but *turn* the data. In *attention*, a rank has some positions of a text, for all heads. It needs all positions, for some
// heads. That is an all-to-all that also moves a dimension.

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

// %% And back.
byPosition.Fill(-1)
symm.AllToAllPermute(byHead, byPosition, 0, 1)
byPosition.Ints()

// %% [markdown]
// ## Your turn
//
// The copies are back, but the layer is not complete: a token wants *one* row, the weighted sum of what its two experts have said. The router
// gives each copy a weight.

// %% Weights for each copy, and room for the result.
weights := make([]float64, copies)
for t := range tokens {
	weights[2*t] = 0.5 + 0.125*float64(t)
	weights[2*t+1] = 1 - weights[2*t]
}
weight := symm.Local(symm.F32, copies).CopyFrom(weights)
y := symm.Local(symm.F32, tokens, hidden)
weights

// %% [exercise] The weighted sum
// Write the kernel `weigh`. It is launched with one block for each token. Row `t` of `y` shall be the sum of the two copies of token `t`, each multiplied by its `weight`.
// The copies are `2*t` and `2*t + 1`, and they lie in `back` where `place` says.

// %% [start]
weigh := symm.Compile(`
__global__ void weigh(float* y, const float* back, const int* place, const float* weight, int hidden) {
  int t = blockIdx.x;
  for (int j = threadIdx.x; j < hidden; j += blockDim.x) y[t * hidden + j] = 0;
}`)

// %% [hint]
// Look at the kernel `pack`. It has put copy `c` into row `place[c]`. There you find it again.

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

// %% [wrong]
weigh := symm.Compile(`
__global__ void weigh(float* y, const float* back, const int* place, const float* weight, int hidden) {
  int t = blockIdx.x;
  for (int j = threadIdx.x; j < hidden; j += blockDim.x) {
    float sum = 0;
    for (int c = 2 * t; c < 2 * t + 2; c++) sum += weight[c] * back[c * hidden + j];
    y[t * hidden + j] = sum;
  }
}`)

// %% [wrong]
weigh := symm.Compile(`
__global__ void weigh(float* y, const float* back, const int* place, const float* weight, int hidden) {
  int t = blockIdx.x;
  for (int j = threadIdx.x; j < hidden; j += blockDim.x) {
    float sum = 0;
    for (int c = 2 * t; c < 2 * t + 2; c++) sum += back[place[c] * hidden + j];
    y[t * hidden + j] = sum;
  }
}`)

// %% [wrong]
weigh := symm.Compile(`
__global__ void weigh(float* y, const float* back, const int* place, const float* weight, int hidden) {
  int t = blockIdx.x;
  for (int j = threadIdx.x; j < hidden; j += blockDim.x) {
    for (int c = 2 * t; c < 2 * t + 2; c++) y[t * hidden + j] = weight[c] * back[place[c] * hidden + j];
  }
}`)

// %% [check]
for c := range choices { // the first choice has the higher number, so that copies change their places
	choices[c] = experts - 1 - (rank+c)%experts
}
choice.CopyFrom(choices)
layer()
y.Fill(-1)
weigh.Launch(symm.Grid(tokens), symm.Block(32), y, back, place, weight, hidden)
result, raw, at := y.Float32s(), back.Float32s(), place.Ints()
found := make([]int, 4) // what is wrong, in the order in which it is said
for i, got := range result {
	t, j := i/hidden, i%hidden
	a, b := float32(values[i]*(choices[2*t]+1)), float32(values[i]*(choices[2*t+1]+1)) // what the experts have said
	wa, wb := float32(weights[2*t]), float32(weights[2*t+1])
	switch got {
	case wa*a + wb*b:
	case wa*raw[2*t*hidden+j] + wb*raw[(2*t+1)*hidden+j]:
		found[0] = 1
	case a + b:
		found[1] = 1
	case wa * a, wb * b:
		found[2] = 1
	default:
		found[3] = 1
	}
}
verdict := symm.Empty(symm.I32, 4).CopyFrom(found)
symm.Rendezvous(verdict)
switch found = symm.AllReduce(verdict, "max").Ints(); {
case found[3] > 0:
	panic("y has numbers that are no weighted sums; is every element of every row written?")
case found[2] > 0:
	panic("y has what one expert has said; a token has two copies, whose rows are added")
case found[1] > 0:
	panic("y is a sum without weights; multiply each copy by its own")
case found[0] > 0:
	panic("copy c is not in row c of back: the copies are sorted by expert, and place[c] says where it is")
}
fmt.Println("correct")

// %% [markdown]
// ## What you know now
//
// - Splits may stay on the GPU. Then a layer with irregular exchanges is one graph.
// - The dispatch says where rows came from, and that is all that the way back has to know.
// - Room must be there for the worst case. Experts that nobody has chosen are an ordinary case.
//
// Rows whose size and address are multiples of 16 bytes travel fastest. How fast, and beside what, is in `docs/benchmarks.md`; `docs/ops.md` has all forms of the
// exchange, with their names in PyTorch.
//
// Read on: `:tutorial 09` is about moving data while the GPU computes.
