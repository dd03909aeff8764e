//go:build ignore

// A hierarchical all-reduce of your own: inside the host, across, inside again.

// %% [markdown]
// # A hierarchical all-reduce of your own
//
// Tutorial 11 ended with two levels: links inside a host, a network between hosts. The network is
// the slow level, so an all-reduce for several hosts should send as little as possible over it. In
// this tutorial you build such an all-reduce from parts that you know, and compare it with
// `symm.AllReduce`.
//
//     symmrepl tutorial 13 -n 4 --hosts 2     two hosts of two ranks, simulated on this machine
//     symmrepl tutorial 13 -n 4               one host: the same cells, and nothing crosses
//
// With `--hosts 2` the network is UCX over the loopback interface; `--net null` needs no library.
//
// First, the two teams of every rank: the ranks that share my memory, and my counterparts on the
// other hosts.

// %% Where am I?
rank, size := symm.Rank(), symm.WorldSize()
team, rail := symm.LSA(), symm.Rail()
perHost, hosts := team.Size(), rail.Size()
fmt.Println(size, "ranks in all:", perHost*hosts == size)

// %% [markdown]
// Every rank has a vector of `n` elements, and all need the sum. The simple way for several hosts
// is *flat*: every rank sends its vector to every rank of the other hosts. With 2 hosts of 4 ranks,
// each rank sends 4 vectors.
//
// But all ranks of a host need the same sum, so they can share the work. With `p` ranks on a host,
// each is responsible for one *slice*, a `p`-th of the vector:
//
//     1. reduce-scatter inside   each rank sums its slice over its host
//     2. exchange along the rail each rank sends its slice to its counterparts, and adds the slices that they send
//     3. all-gather inside       each rank gives its slice to its host
//
// Each rank sends only a `p`-th of a vector over the network, once to each other host.
//
// ![Two hosts of two ranks: which slices hold the sum of the host, and which the sum of all, after each step.](picture:hierarchical)

// %% A vector of small integers, which every order of summing gives exactly.
n := 1 << 14
t := symm.Empty(symm.F32, n)
symm.Rendezvous(t)       // for symm.AllReduce
symm.Rendezvous(t, team) // for the steps inside
fill := func() { t.Fill(rank + 1) }
total := float32(size * (size + 1) / 2)
fill()
fmt.Println("every element shall become", total)

// %% [markdown]
// ## Step 1: inside
//
// `symm.ReduceScatterOut` on the team computes my slice, summed over my host. The sum goes into
// separate memory, because `t` will receive the final result.

// %% Reduce-scatter in the LSA team.
length := n / perHost
slice := symm.Local(symm.F32, length)
symm.ReduceScatterOut(t, "sum", slice, team)
hostSum := float32(0)
for _, r := range team.Ranks() {
	hostSum += float32(r + 1)
}
fmt.Println("the slice has the sum of this host:", slice.Equal(hostSum))

// %% [exercise] Predict: two hosts of two
// Four ranks on two hosts: ranks 0 and 1 on one, ranks 2 and 3 on the other. Each rank has filled its vector with its number plus 1. What
// do the elements of the slice of rank 2 hold
// after step 1?

// %% [start]
predict := 0.0

// %% [hint]
// Step 1 stays inside the host. Which ranks share a host with rank 2?

// %% [hint]
// Ranks 2 and 3, whose vectors hold 3 and 4.

// %% [solution]
predict := 7.0

// %% [check]
sumOf := func(ranks ...int) (sum float64) {
	for _, r := range ranks {
		sum += float64(r + 1)
	}
	return sum
}
switch float64(predict) {
case sumOf(2, 3):
	fmt.Println("correct")
case 0:
	panic("predict is still 0: what does the slice hold after the reduce-scatter inside the host?")
case sumOf(0, 1, 2, 3):
	panic("10 is the sum of all: the other host has not been asked yet")
case sumOf(2):
	panic("3 is the vector of rank 2 alone: the reduce-scatter adds up the host")
case sumOf(0, 2):
	panic("ranks 0 and 2 are a rail, with one rank on each host: step 1 is inside the host")
default:
	panic(fmt.Sprintf("not %v: add up what the ranks of its host have, their numbers plus 1", predict))
}

// %% [markdown]
// ## Step 2: across
//
// Each member of the rail has an inbox with a place for every member. A rank puts its slice into
// *its own* place at every member, with a signal: word `i` means that the data for place `i` has
// arrived. So no rank overwrites another rank's data, and the order of the messages does not
// matter.
//
// The kernel adds in the order of the hosts. All counterparts use the same order, so all get the
// same bits.

// %% Put with signal along the rail, and a kernel that sums the places.
inbox := rail.Empty(symm.F32, hosts*length)
all := symm.Rendezvous(inbox, rail)
var places []*symm.Handle
for i := range hosts {
	places = append(places, symm.Rendezvous(inbox.Slice(i*length, (i+1)*length), rail))
}
sumPlaces := symm.Compile(`
__global__ void sum_places(const float* inbox, float* slice, int length, int hosts) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length; i += gridDim.x * blockDim.x) {
    float total = inbox[i];
    for (int host = 1; host < hosts; host++) total += inbox[host * length + i];
    slice[i] = total;
  }
}`)
calls := uint64(0)
exchange := func() {
	calls++
	all.Barrier(0) // all have read what came in the call before
	me := rail.Rank()
	for i := range hosts {
		places[me].PutWithSignal(i, slice, me, calls)
	}
	for i := range hosts {
		places[i].WaitForSignal(i, ">=", calls)
	}
	sumPlaces.Launch(symm.Grid(8), symm.Block(128), inbox, slice, length, hosts)
}
exchange()
fmt.Println("the slice has the sum of all:", slice.Equal(total))

// %% [markdown]
// The third question of tutorial 11: when may I send to the same place again? Here a barrier of the
// rail answers it. It costs a trip over the network. symmrepl's own operations instead have inboxes
// with several slots, and the receiver signals to the sender which slots it has used.
//
// ## Step 3: inside again
//
// All ranks of the host have a slice of the result. An all-gather puts the slices together in `t`.
// `t` is symmetric, so each rank stores its slice into the memory of the others.

// %% All-gather in the LSA team.
symm.AllGatherOut(slice, t, team)
wrong := symm.Reduce("sum(x0 != x1)", t, total)
fmt.Println(wrong.Item(), "elements are wrong")

// %% [markdown]
// ## The whole
//
// All three steps run on one stream. The CPU does not wait for any of them, so they can also be
// captured in a graph.
//
// Now a harder test: random values, whose sums depend on the order. `symm.AllReduce` groups sums by host, too: first the ranks of a host, in
// order, then the hosts. So both give the same bits.

// %% The same bits as symm.AllReduce.
allReduce := func() {
	symm.ReduceScatterOut(t, "sum", slice, team)
	exchange()
	symm.AllGatherOut(slice, t, team)
}
t.Rand(100 + rank)
allReduce()
mine := symm.Local(symm.F32, n).CopyFrom(t)
t.Rand(100 + rank)
symm.AllReduce(t, "sum")
fmt.Println("the same bits:", t.Equal(mine))

// %% [exercise] Repair: the same bits
// In our exchange a rank also puts its slice into its own inbox. The kernel `addUp` saves this copy: the rank's own sum stays in `slice`, and
// the place `me` of the inbox is not filled. All tests with small integers pass. But on three hosts, training with it gives slightly
// different weights on each host, and the difference grows from step to step. Repair the kernel: on every host it must give the bits that
// `symm.AllReduce` gives. It is launched with 8 blocks of 128 threads, for any `length`.

// %% [start]
addUp := symm.Compile(`
__global__ void add_up(const float* inbox, float* slice, int length, int hosts, int me) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length; i += gridDim.x * blockDim.x) {
    float total = slice[i];
    for (int host = 0; host < hosts; host++)
      if (host != me) total += inbox[host * length + i];
    slice[i] = total;
  }
}`)

// %% [hint]
// A sum of floats depends on its order. In which order does host 0 add the numbers of the hosts 0, 1 and 2? And host 2?

// %% [hint]
// Host 0 computes (0 + 1) + 2, host 2 computes (2 + 0) + 1. With two hosts nobody notices: a + b is b + a.

// %% [hint]
// Every host adds in the order 0, 1, 2 …, and takes its own number from `slice` when its turn comes: `host == me ? slice[i] : inbox[host * length + i]`.

// %% [solution]
addUp := symm.Compile(`
__global__ void add_up(const float* inbox, float* slice, int length, int hosts, int me) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length; i += gridDim.x * blockDim.x) {
    float total = 0;
    for (int host = 0; host < hosts; host++) total += host == me ? slice[i] : inbox[host * length + i];
    slice[i] = total;
  }
}`)

// %% [check]
import "math"

count := 1500 // more than the threads of the launch
const scale = 3.7
for hosts := 2; hosts <= 4; hosts++ {
	sums, want := make([][]float32, hosts), make([]float32, count) // of each host, and of all
	for host := range sums {
		for i := range count {
			sums[host] = append(sums[host], float32((7919*i+104729*host)%10007)/scale)
			want[i] += sums[host][i]
		}
	}
	var first []float32 // what host 0 gets
	for me := range hosts {
		var filled []float32
		for host := range sums {
			for i := range count {
				v := sums[host][i]
				if host == me {
					v = float32(math.NaN())
				}
				filled = append(filled, v)
			}
		}
		whole := symm.Local(symm.F32, count).CopyFrom(sums[me])
		addUp.Launch(symm.Grid(8), symm.Block(128), symm.Local(symm.F32, hosts*count).CopyFrom(filled), whole, count, hosts, me)
		got := whole.Float32s()
		if me == 0 {
			first = got
		}
		for i, v := range got {
			switch {
			case v == want[i]:
			case v != v:
				panic(fmt.Sprintf("host %d of %d gets NaN: the place of its own host in the inbox is not filled, and its own sum is in slice", me, hosts))
			case v == sums[me][i]:
				panic(fmt.Sprintf("element %d of %d still has the sum of its own host: length can be more than the number of threads", i, count))
			case math.Abs(float64(v/want[i]-1)) > 1e-5:
				panic(fmt.Sprintf("host %d of %d gets %v, not %v: the sum of each host must be added once", me, hosts, v, want[i]))
			case v != first[i]:
				panic(fmt.Sprintf("of %d hosts, host 0 gets %v and host %d gets %v: every host must add in the same order", hosts, first[i], me, v))
			case me == hosts-1:
				panic(fmt.Sprintf("all %d hosts get %v, but symm.AllReduce gives %v: add floats, in the order of the hosts, as sum_places does", hosts, v, want[i]))
			}
		}
	}
}

// On the emulated device the sanitizer grades your code.
symm.Sanitize(true, 0)
symm.Findings() // those of before
addUp.Launch(symm.Grid(8), symm.Block(128), symm.Local(symm.F32, 2*count).Fill(1), symm.Local(symm.F32, count).Fill(1), count, 2, 0)
symm.Meet() // kernels take longer on some ranks
findings := symm.Findings()
symm.Sanitize(false, 0)
if len(findings) > 0 {
	said := "the sums are right, but the sanitizer finds accesses that nothing orders: every element belongs to one thread"
	for _, f := range findings {
		said += "\n- " + f.String()
	}
	panic(said)
}
fmt.Println("correct")

// %% [markdown]
// A test with random values and three hosts finds this mistake, and a test with integers or two hosts cannot.

// %% [varies] Which way symm.AllReduce goes, and why.
fmt.Println(symm.Explain(func() { symm.AllReduce(t, "sum") }))

// %% [markdown]
// On two hosts the output says `hierarchical` and the number of bytes that this rank sends.
// `symm.AllReduce(t, "sum", symm.Via("flat"))` forces the other way; on one host there is only one
// way.
//
// Measure both, as in tutorial 12: the device's time of many calls, after a warm-up.

// %% [varies] Mine, and theirs.
measure := func(f func()) time.Duration {
	f()
	symm.Synchronize()
	const times = 20
	return symm.Elapsed(func() {
		for range times {
			f()
		}
	}) / times
}
fmt.Println("mine:          ", measure(allReduce))
fmt.Println("symm.AllReduce:", measure(func() { symm.AllReduce(t, "sum") }))
if hosts > 1 {
	fmt.Println("flat:          ", measure(func() { symm.AllReduce(t, "sum", symm.Via("flat")) }))
}

// %% [markdown]
// Ours runs its parts one after the other: three kernels, one message for each counterpart and a
// barrier. `symm.AllReduce` is one kernel that cuts the slice into chunks: while one chunk travels,
// it sums the next. `kernels/hosts/pipes.cuh` describes the protocol.
//
// The flat way takes one trip, and the ranks of a host need not wait for each other. But it sends
// more messages and more bytes. How many more?

// %% [exercise] What crosses
// Write `crosses(way, ranks, hosts, bytes)`: it returns the number of bytes that *one rank* sends
// over the network in an all-reduce of a vector of `bytes` bytes. `way` is `"flat"` or
// `"hierarchical"`. All hosts have the same number of ranks, and the slices divide evenly.

// %% [start]
func crosses(way string, ranks, hosts, bytes int) int {
	return (ranks - 1) * bytes
}

// %% [hint]
// Ranks on my own host get nothing over the network. How many ranks are on the other hosts?

// %% [hint]
// Flat: a vector for every rank of the other hosts. Hierarchical: a slice for every *other host*.

// %% [hint]
// With `p := ranks / hosts` ranks on a host, a slice has `bytes / p` bytes.

// %% [solution]
func crosses(way string, ranks, hosts, bytes int) int {
	p := ranks / hosts
	if way == "flat" {
		return (ranks - p) * bytes
	}
	return (hosts - 1) * bytes / p
}

// %% [check]
for _, c := range []struct {
	way                       string
	ranks, hosts, bytes, want int
}{
	{"flat", 12, 3, 1200, 9600},
	{"hierarchical", 12, 3, 1200, 600},
	{"flat", 8, 2, 4096, 16384},
	{"hierarchical", 8, 2, 4096, 1024},
	{"hierarchical", 64, 8, 8 << 20, 7 << 20},
	{"flat", 4, 4, 100, 300},
	{"hierarchical", 4, 4, 100, 300},
	{"flat", 4, 1, 100, 0},
	{"hierarchical", 4, 1, 100, 0},
} {
	got, p := crosses(c.way, c.ranks, c.hosts, c.bytes), c.ranks/c.hosts
	why := "flat, a rank sends its vector to every rank of the other hosts"
	if c.way == "hierarchical" {
		why = "a rank sends its slice, a p-th of the vector, once to each other host"
	}
	switch {
	case got == c.want:
		continue
	case got == (c.ranks-1)*c.bytes || c.hosts == 1:
		why = "nothing crosses to the ranks of the rank's own host"
	case c.way == "hierarchical" && got == (c.hosts-1)*c.bytes:
		why = fmt.Sprintf("with %d ranks on a host only a slice of the vector crosses from each", p)
	case c.way == "hierarchical" && got == c.hosts*c.bytes/p:
		why = "the rank's own host needs no copy over the network"
	case got == p*c.want:
		why = fmt.Sprintf("count what one rank sends, not all %d ranks of a host", p)
	}
	panic(fmt.Sprintf("crosses(%q, %d, %d, %d) is %d, not %d: %s", c.way, c.ranks, c.hosts, c.bytes, got, c.want, why))
}
fmt.Println("correct")

// %% [markdown]
// With `p` ranks on each host the hierarchical way sends `p*p` times fewer bytes from each rank. With one rank on each host, both are the same.
//
// ## What you know now
//
// - A group that spans hosts has two teams: the ranks of `LSA()` load and store, the ranks of
//   `Rail()` put and signal.
// - Reduce-scatter inside, exchange across, all-gather inside: every byte crosses to each host once.
// - The order of a sum is part of its result. Grouped by host, it is the same on all ranks and for
//   both ways.
//
// Read on: `:tutorial 14` writes such kernels with NCCL's names. `docs/hosts.md` says which operations cross hosts and how, and `kernels/hosts` has the
// kernels.
