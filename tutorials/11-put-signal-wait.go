//go:build ignore

// GPU-initiated networking: put, signal and wait, in a form that crosses hosts.

// %% [markdown]
// # Put, signal, wait: GPU-initiated networking
//
// Inside a host, a kernel reads a peer's memory by a load. To another host there is no load: there is a network card. Such a
// card can do a **put**: read these bytes from my memory, write them *there*, and then set a **signal** on the other side.
//
//     who requests the put                   cost of each message
//     the CPU, between two kernels           a kernel ends, the CPU wakes up, makes the request, starts another kernel
//     a kernel (GPU-initiated networking)    the kernel writes a request, and continues
//
// NCCL calls the second way GIN (2.28 and newer); NVSHMEM has it, too. It pays off when there are
// many small messages, as in mixtures of experts.
//
// Programs for it use only three things: put with a signal, wait for a signal, and their own memory. A program limited
// to these three does not depend on where the peer is. To a peer on your host, symmrepl performs a put by stores; to one on
// another host, it hands the put to a network. One machine can play both:
//
//     symmrepl tutorial 11 -n 4                            all ranks on one host
//     symmrepl tutorial 11 -n 4 --hosts 2 --net null       ranks 0 and 1 on one, 2 and 3 on the other: they share no memory
//
// The *null* network is for learning: it carries messages between processes, and you choose how
// slow and disorderly it is. The cells below are the same for both commands, and show the same
// results. That is the point of put, signal and wait.

// %% A window: memory that every rank has registered.
rank, size := symm.Rank(), symm.WorldSize()
right, left := (rank+1)%size, (rank+size-1)%size
t := symm.Empty(symm.F32, 4)
h := symm.Rendezvous(t)
count := uint64(0) // messages sent so far

// %% [markdown]
// NCCL calls it a *window*: memory of the same size on all ranks, registered with the card once. A put names its target by rank and offset in
// the window, never by an address. Next to the data there are *signals*: 64-bit words in the tensor's signal pad, which are 0 at the beginning.
//
// `h.PutWithSignal(peer, tensor, word, value)` copies the tensor into the peer's copy, and then sets a word of the peer
// to a value. `h.WaitForSignal(word, ">=", value)` waits for the rank's own word.

// %% To the right. A rank that sees the word sees the data.
message := symm.Local(symm.F32, 4).Fill(100 + rank)
count++
h.PutWithSignal(right, message, 0, count)
h.WaitForSignal(0, ">=", count)
t.Float32s()

// %% [markdown]
// In tutorial 03 a signal was a bit, and a wait consumed it. A word keeps its value. So signals *count*: the first message
// sets the word to 1, the second to 2. The receiver knows how many messages it has received, and waits for the next number.
//
// Why `>=` and not `==`? Because a word can pass your number before you look.

// %% [fails] Rank 0 has sent twice before rank 1 looks.
if rank == 0 {
	h.PutWithSignal(1, message, 1, 1)
	h.PutWithSignal(1, message, 1, 2)
}
h.Barrier(0)
if rank == 1 {
	h.WaitForSignal(1, "==", 1, symm.Timeout(300*time.Millisecond))
}
symm.Synchronize()

// %% [markdown]
// The word is 2 and will never be 1 again. With `>=` the wait ends at once. NCCL's `waitSignal` offers only "at least".
//
// ## Three questions about every put
//
// 1. **When may I change the source?** After it was *read*. This is called local completion.
// 2. **When has the data arrived?** When the receiver has seen the signal.
// 3. **When may I send to the same place again?** When the receiver has signalled that it has read it.
//
// First question. On a network a put is only a request. The card may read your memory much later, and NCCL has two ways
// to find out: `flush` waits until all sources have been read, and a put can increment a *counter* of yours. Here a put
// is stream-ordered, and later work in the stream waits for it:

// %% Change the message right after the put.
message.Fill(7)
count++
h.PutWithSignal(right, message, 0, count)
message.Fill(999)
h.WaitForSignal(0, ">=", count)
t.Float32s()

// %% [markdown]
// No rank sees the 999. With two streams one could.
//
// Second question: the data has arrived for the rank that waits for this signal. Two puts to two peers have no order: a signal on
// rank 1 says nothing about the data on rank 2. Even two puts to *one* peer need care, as you will see below.
//
// The receiver answers the third question. Its answer is an empty put: a signal without data.

// %% Three messages through one place. Word 3 means "data is here", word 4 "I have read it".
h.ResetSignal(3)
h.ResetSignal(4)
h.Barrier(0) // before any rank sets them
nothing := message.Slice(0, 0)
var seen []float32
for step := uint64(1); step <= 3; step++ {
	h.WaitForSignal(4, ">=", step-1) // the right neighbour has read the previous message
	h.PutWithSignal(right, message.Fill(10*rank+int(step)), 3, step)
	h.WaitForSignal(3, ">=", step)
	seen = append(seen, t.Float32s()[0])
	h.PutWithSignal(left, nothing, 4, step)
}
seen

// %% [markdown]
// Without word 4, it still works nearly always. By now you know that this proves nothing.
//
// ## Strong and weak signals
//
// A network may deliver messages in an order that differs from the order of sending: they take
// different paths, or a lost message is sent again. What, then, does a signal say about the puts
// *before* its own? NCCL and symmrepl have two kinds:
//
//     strong, the default        a rank that sees the signal sees the data of all earlier puts of the sender to it
//     weak, with symm.Weak()     a rank that sees the signal sees the data of the signal's own put, and perhaps not earlier data
//
// The next cell tries it. In each round a rank makes two puts to its partner on the other host: the
// data, and then a header with a signal. The partner waits for the signal and looks at the data at
// once. If the data has not arrived yet, the signal was early. First the strong signals. On two
// hosts, first make the network disorderly; on one host there is no network, and `:net` says so:
//
//     :net delay 200us reorder on seed 7

// %% A strong signal is never early.
partner := (rank + size/2) % size // with two hosts, the rank with my position on the other one
both := symm.Empty(symm.F32, 1025)
data, header := symm.Rendezvous(both.Slice(0, 1024)), symm.Rendezvous(both.Slice(1024, 1025))
source, one := symm.Local(symm.F32, 1024), symm.Local(symm.F32, 1).Fill(1)
rounds, signalled := 100, uint64(0)
countEarly := func(options ...symm.Option) (early int) {
	for round := range rounds {
		signalled++
		both.Fill(-1)
		data.Barrier(0) // nobody puts before all are ready
		data.Put(partner, source.Fill(round))
		header.PutWithSignal(partner, one, 0, signalled, options...)
		header.WaitForSignal(0, ">=", signalled)
		if now := both.Float32s(); now[0] != float32(round) || now[1023] != float32(round) {
			early++
		}
		data.Barrier(0) // nobody begins again before all have looked
	}
	return early
}
fmt.Println("strong:", countEarly(), "of", rounds, "early")

// %% [varies] A weak one may be: on two hosts, when messages overtake each other.
fmt.Println("weak:", countEarly(symm.Weak()), "of", rounds, "early")

// %% [markdown]
// On one host both lines say 0: there a put and its signal are work of one stream, which keeps them in order. On two hosts the strong line says
// 0, too, whatever the network does: the receiver keeps a strong signal back until all earlier messages of its sender have arrived.
// The weak line says how often the header and its signal overtook the data. The header itself was always there.
//
// So why use weak signals? Because keeping signals back costs time. Suppose that rank 0 sends a
// hundred messages, each with its own word, and one of them is late. With strong signals, all later
// messages wait. With weak signals, the receiver can begin with the other 99. If each signal covers
// only its own data, weak is right; if one signal covers many puts, it must be strong. Many weak
// puts with a strong `h.SignalAdd(peer, word, 1)` at the end is a common form: it adds to the word,
// so that several senders can share it.
//
// `:net` without settings shows which peers a network connects, and its traffic so far. `:net off`
// makes it orderly again.
//
// ## A message in pieces
//
// A long message goes in pieces, which may take different paths. Each piece has a weak signal and a word of its own:
//
// ![Four pieces with weak signals arrive in another order; the receiver answers when it has read all of them.](picture:pieces)
//
//     left                            right
//     piece 0, word 10 ─────╮
//     piece 1, word 11 ─────┼──────>
//     piece 2, word 12 ─────┼──────>
//     piece 3, word 13 ─────┼──────>
//                           ╰──────>  piece 0 comes last
//                                     read all four
//     wait for word 14 <────────────  word 14: I have read them
//     the next round …

// %% The sender: four pieces of one number. A piece may go when the receiver has read the round before.
parts := make([]*symm.Handle, 4)
for i := range parts {
	parts[i] = symm.Rendezvous(t.Slice(i, i+1))
}

func post(round uint64) {
	h.WaitForSignal(14, ">=", round-1)
	for i, part := range parts {
		part.PutWithSignal(right, message.Slice(i, i+1), 10+i, round, symm.Weak())
	}
}

acknowledge := func(round uint64) { h.PutWithSignal(left, nothing, 14, round) }

// %% [exercise] Repair: pieces in any order
// `receive(round)` returns the four numbers that the left neighbour has sent in this round. It calls `acknowledge(round)` once: then the left
// neighbour may send the next round to the same place. It answers two of the three questions of this tutorial wrongly. Repair both. The signals
// stay weak.

// %% [start]
func receive(round uint64) []float32 {
	h.WaitForSignal(13, ">=", round) // the last piece
	acknowledge(round)
	return t.Float32s()
}

// %% [hint]
// Second question: when has the data arrived? Word 13 is the signal of piece 3. What does a weak signal say about the pieces before it?

// %% [hint]
// Third question: when may the left neighbour send again? What if its next round comes between `acknowledge` and `t.Float32s()`?

// %% [hint]
// Wait for the words 10, 11, 12 and 13. Then `got := t.Float32s()`, then `acknowledge(round)`.

// %% [solution]
func receive(round uint64) []float32 {
	for i := range parts {
		h.WaitForSignal(10+i, ">=", round)
	}
	got := t.Float32s()
	acknowledge(round)
	return got
}

// %% [check]
secrets, judged, wire := symm.Empty(symm.I32, 1), symm.Empty(symm.I32, 5), symm.NewStream()
symm.Rendezvous(secrets)
symm.Rendezvous(judged)
realAcknowledge := func(round uint64) { h.PutWithSignal(left, nothing, 14, round) }
judge := func(found ...int) { // the mistakes of this rank: the others hear of them
	switch found := symm.AllReduce(judged.CopyFrom(found), "max").Ints(); {
	case found[1] > 0:
		panic("a piece came later than the others, and receive did not wait for it: a weak signal tells of its own piece, so wait for the word of each piece to reach the round")
	case found[2] > 0:
		panic("receive acknowledged before it had read: the left neighbour sent the next round to the same place")
	case found[3] > 0:
		panic("receive does not return the four numbers that the left neighbour has sent: they are in t")
	case found[0] > 0:
		panic("a wait gave up: the pieces come with the words 10 to 13, and the left neighbour waits for acknowledge(round) in each round")
	case found[4] > 0:
		panic("the numbers are right by luck, and a network may be slower: receive did not wait for the word of each piece, or acknowledged before it had read")
	}
}
for first := 0; first < len(parts); first += size { // a piece of round 2 never comes: each of them, on one of the ranks
	symm.Recover() // ends waits that an earlier answer left, and clears the words
	acknowledge = func(round uint64) {}
	returned := 0
	symm.Maybe(func() { // a wait that cannot end becomes an error
		for round := 1; round <= 2; round++ {
			for i, part := range parts {
				if round < 2 || i != (first+rank)%len(parts) {
					part.PutWithSignal(right, message.Slice(i, i+1), 10+i, uint64(round), symm.Weak(), wire)
				}
			}
			symm.Meet()
			receive(uint64(round))
			returned = round
			symm.Meet()
		}
	})
	acknowledge = realAcknowledge
	symm.Recover()
	judge(0, returned/2, 0, 0, 0)
}
test := func(watched bool) {
	const rounds = 3
	symm.Recover()
	secret := symm.AllGather(secrets.Fill(1 + int(time.Now().UnixNano()%1000))).Ints()
	number := func(r, round, i int) int { return 1000*secret[r] + 10*round + i }
	var messages []*symm.Tensor
	for round := range rounds + 2 {
		message := make([]int, len(parts))
		for i := range message {
			message[i] = number(rank, round, i)
		}
		messages = append(messages, symm.Local(symm.F32, len(parts)).CopyFrom(message))
	}
	t.Fill(-1)
	symm.Sanitize(watched, 0)
	symm.Meet()
	symm.Findings() // those of before
	send := func(round int) { // as post, on a stream of its own
		h.WaitForSignal(14, ">=", uint64(round-1), wire, symm.Timeout(2*time.Second))
		for i, part := range parts {
			part.PutWithSignal(right, messages[round].Slice(i, i+1), 10+i, uint64(round), symm.Weak(), wire)
		}
	}
	sent := uint64(0)
	acknowledge = func(round uint64) { // the next round goes when the right neighbour has acknowledged this one
		realAcknowledge(round)
		for ; sent <= round; sent++ {
			send(int(sent) + 1)
		}
		for i := range parts { // what comes next comes before what receive does next
			if !watched {
				h.WaitForSignal(10+i, ">=", round+1, symm.Timeout(2*time.Second))
			}
		}
	}
	found := make([]int, 5) // mistakes found
	if symm.Maybe(func() {
		send(1)
		sent = 1
		for round := 1; round <= rounds; round++ {
			got := receive(uint64(round))
			if len(got) != len(parts) {
				found[3] = 1
				continue
			}
			for i, v := range got {
				switch int(v) {
				case number(left, round, i):
				case -1, number(left, round-1, i):
					found[1] = 1
				case number(left, round+1, i):
					found[2] = 1
				default:
					found[3] = 1
				}
			}
		}
		symm.Synchronize()
	}) != nil {
		found[0] = 1
	}
	acknowledge = realAcknowledge
	symm.Recover()
	found[4] = len(symm.Findings())
	symm.Sanitize(false, 0)
	judge(found...)
}
test(false)
test(true) // the sanitizer of the emulated device finds what is right by luck
fmt.Println("correct")

// %% [markdown]
// ## From a kernel
//
// Until now the CPU requested each put. GPU-initiated means that a kernel requests it. Such puts
// cross hosts, too. The kernels below stay inside a host, so that they show the same with both
// commands: they run in `symm.LSA()`, the team of the ranks that share memory with this one. On one
// host that is the world. With a handle of the team, `h.rank` and `h.world_size` are the rank's
// number in the team and the team's size.
//
//     symm::put_with_signal(h, peer, offset, source, bytes, word, value)    called by all threads of a block
//     symm::wait_for_signal(h, word, value, true)                           called by one thread; true means "at least"
//
// An all-gather around a ring: in each step a rank passes the block that it received last from the left on to the right.
//
//     step 0   0 ──a──> 1   1 ──b──> 2   2 ──c──> 3   3 ──d──> 0     each rank its own block
//     step 1   0 ──d──> 1   1 ──a──> 2   2 ──b──> 3   3 ──c──> 0     the block received in step 0
//     step 2   0 ──c──> 1   1 ──d──> 2   2 ──a──> 3   3 ──b──> 0

// %% [exercise] Predict: around six ranks
// The same ring with six ranks. The blocks have the numbers of the ranks that own them: `a` is block 0. Which block does rank 0 receive in step 3?

// %% [start]
predict := 0.0

// %% [hint]
// From whom does rank 0 receive, in every step? Which block does that rank pass on in step 0, and in step 1?

// %% [hint]
// Rank 5 sends block 5 in step 0, then the block that it received in the step before: block 4 in step 1.

// %% [solution]
predict := 2.0

// %% [check]
block := make([]int, 6) // what each rank passes on
for r := range block {
	block[r] = r
}
for range 3 {
	block = append(block[5:], block[:5]...) // each rank has received its left neighbour's
}
switch float64(predict) {
case float64(block[5]):
	fmt.Println("correct")
case 0:
	panic("predict is still 0, and block 0 never comes back to rank 0")
case 5:
	panic("5 is the block of step 0, from the left neighbour itself")
case 3:
	panic("the first step is step 0: in step 2 rank 0 receives block 3")
case 4, 1:
	panic(fmt.Sprintf("block %v comes in another step: the blocks come in the order 5, 4 …", predict))
default:
	panic(fmt.Sprintf("not %v: rank 0 receives from rank 5, whose block in step s is 5-s", predict))
}

// %% [markdown]
// All `N-1` steps are in *one* launch. Each rank communicates only with its neighbours, which suits networks. Each step
// has its own word and its own place, so that nothing is overwritten within a launch.

// %% The ring, in one kernel.
ring := symm.Compile(`
__global__ void ring(symm::Handle h, int n, symm::u64 epoch) {
  const int right = (h.rank + 1) % h.world_size;
  for (int step = 0; step < h.world_size - 1; step++) {
    const int block = (h.rank + h.world_size - step) % h.world_size;
    const symm::u64 at = block * n * sizeof(float), bytes = n * sizeof(float);
    symm::put_with_signal(h, right, at, h.buffer<char>(h.rank) + at, bytes, step, epoch);
    bool came = true;
    if (threadIdx.x == 0) came = symm::wait_for_signal(h, step, epoch, true);
    if (!__syncthreads_and(came)) return;
  }
}`)
team := symm.LSA()
me, mates := team.Rank(), team.Size()
all := team.Empty(symm.F32, mates*2).Fill(-1)
hAll := symm.Rendezvous(all, team)
all.Slice(2*me, 2*me+2).Fill(10 * me)
hAll.Barrier(0)
ring.Launch(symm.Grid(1), symm.Block(32), hAll, 2, uint64(1))
complete := symm.Reduce("all(x0 == i/2*10)", all) // i is the number of the element
fmt.Println("all blocks have come around:", complete.Item() == 1)

// %% [markdown]
// Three details:
//
// - One thread waits, and `__syncthreads_and` gives its result to all threads of the block. The wait is an *acquire*: data put before the signal is
//   visible after the wait, and after `__syncthreads_and` to the whole block.
// - In the put, the signal is a *release*. All threads copy, then they synchronise, then one thread stores the word. `symm.cuh` has it in ten lines.
// - `epoch` increases with every launch, since the words keep their values. With the same epoch again, every wait would end at once.
//
// ## Two levels
//
// NVLink inside a host is often ten times as fast as the network between hosts. So algorithms have
// two levels: as much traffic as possible inside the host, and as little as possible between hosts.
// Every group has a team for each level: `LSA()` has the ranks of my host, and `Rail()` has my
// counterparts, the ranks with my position on the other hosts. On four ranks:
//
//     symmrepl -n 4 --hosts 2     LSA teams 0,1 and 2,3     rails 0,2 and 1,3
//     symmrepl -n 4               LSA team 0,1,2,3          each rank has a rail of its own
//
// ![Two hosts of two ranks: LSA teams inside the hosts, rails between them.](picture:teams)
//
// Here you build the two levels yourself: a collective in the LSA team, and put, signal and wait along the rail. A
// collective of the world does both: tutorial 13 compares them.

// %% An all-reduce on two levels: a collective inside the host, puts along the rail.
part := team.Empty(symm.F32, 4).Fill(rank + 1)
symm.Rendezvous(part, team)
symm.AllReduce(part, "sum", team) // inside the host

rail := symm.World().Rail()
sums := rail.Empty(symm.F32, rail.Size()*4) // of each host
var places []*symm.Handle
for i := range rail.Size() {
	places = append(places, symm.Rendezvous(sums.Slice(4*i, 4*i+4), rail))
}
mine := rail.Rank()
for i := range rail.Size() {
	places[mine].PutWithSignal(i, part, mine, 1) // my place in the memory of each member
}
for i := range rail.Size() {
	places[i].WaitForSignal(i, ">=", 1)
}
total := sums.View(-1, 4).Sum(symm.Along(0)) // over the hosts
fmt.Println("all ranks together:", total.Float32s())

// %% [markdown]
// Each rank sends its vector to each other host once, not once to every rank there. With `p` ranks per host, a `p`-th of
// that is enough: reduce-scatter inside, put the rank's slice across, all-gather inside.
//
// ## Your turn: a halo exchange
//
// A simulation has its cells spread over the ranks. Computing a cell needs its neighbours, and at
// the edge the neighbours are on another rank. So each rank keeps a copy of these neighbours, its
// *halo*, and updates it in each step:
//
//     rank 0   [ … | a b c d | e ]     rank 1 has put its first cell, e, into the halo of rank 0
//     rank 1   [ d | e f g h | … ]     rank 0 has put its last cell, d, into the halo of rank 1
//
// The ring is closed: the right neighbour of the last rank is rank 0. The field covers one host:
// the ranks are the members of the team.

// %% A field: six cells, and a halo of one on each side.
cells := 6
u := team.Empty(symm.F32, cells+2).Fill(-1)
hu := symm.Rendezvous(u, team)

// %% [exercise] The halo exchange
// Write the kernel `halo(h, n, epoch)`; `n` is the number of cells. It puts `u[1]`, the first cell, into `u[n+1]` of the *left*
// neighbour, and `u[n]`, the last cell, into `u[0]` of the *right* neighbour. It returns when both halos of this rank have arrived. It is
// launched with one block of 32 threads and an epoch that increases. It must also work for two ranks, where left and right are the same.
//
// The kernel below does one half of it.

// %% [start]
halo := symm.Compile(`
__global__ void halo(symm::Handle h, int n, symm::u64 epoch) {
  const int right = (h.rank + 1) % h.world_size;
  float* u = h.buffer<float>(h.rank);
  symm::put_with_signal(h, right, 0, u + n, sizeof(float), 0, epoch);
  if (threadIdx.x == 0) symm::wait_for_signal(h, 0, epoch, true);
}`)

// %% [hint]
// The other half is a second put: to `(h.rank + h.world_size - 1) % h.world_size`, from `u + 1`, to the offset of `u[n+1]`. Offsets are in bytes.

// %% [hint]
// Each rank receives two messages. Each message needs its own word: if both set word 0, one message looks like two.

// %% [hint]
// Put both first, then wait for both: in `if (threadIdx.x < 2) symm::wait_for_signal(h, threadIdx.x, epoch, true);` one thread waits for each word.

// %% [solution]
halo := symm.Compile(`
__global__ void halo(symm::Handle h, int n, symm::u64 epoch) {
  const int right = (h.rank + 1) % h.world_size, left = (h.rank + h.world_size - 1) % h.world_size;
  float* u = h.buffer<float>(h.rank);
  symm::put_with_signal(h, right, 0, u + n, sizeof(float), 0, epoch);
  symm::put_with_signal(h, left, (n + 1) * sizeof(float), u + 1, sizeof(float), 1, epoch);
  if (threadIdx.x < 2) symm::wait_for_signal(h, threadIdx.x, epoch, true);
}`)

// %% [check]
symm.Recover() // clears words that an earlier answer set
everywhere := func(mine bool) bool {
	no := symm.Rendezvous(symm.Empty(symm.I32, 1))
	for p := range size {
		if !mine {
			no.SignalAdd(p, 0, 1)
		}
	}
	no.Barrier(0)
	return no.GetSignal(0) == 0
}
exchange := func(on *symm.Handle, epoch int) {
	halo.Launch(symm.Grid(1), symm.Block(32), on, cells, uint64(epoch), symm.Timeout(time.Second))
	symm.Synchronize()
}
value := func(r, cell, epoch int) float32 { return float32(1000*epoch + 100*r + cell) }
judge := func(got, want []float32) string { // what an exchange that ended did wrong
	for i := range got {
		whole := got[i] == float32(int(got[i]))
		switch {
		case got[i] == want[i]:
		case i == 0:
			return fmt.Sprintf("after the exchange u[0] is %v, not the last cell of the left neighbour", got[i])
		case i > cells:
			return fmt.Sprintf("after the exchange u[%d] is %v, not the first cell of the right neighbour", i, got[i])
		case whole:
			return fmt.Sprintf("after the exchange u[%d] is %v, not %v: a put went there; the places of the halos are u[0] and u[%d]",
				i, got[i], want[i], cells+1)
		default:
			return fmt.Sprintf("after the exchange u[%d] is %v, not %v: a put went to a part of it; offsets are in bytes", i, got[i], want[i])
		}
	}
	return ""
}
tryOn := func(ranks []int) (bad string) { // two exchanges between these ranks
	var part *symm.Group
	var field *symm.Tensor
	var h *symm.Handle
	member := slices.Contains(ranks, rank)
	if member {
		part = symm.NewGroup(ranks...)
		field = part.Empty(symm.F32, cells+2)
		h = symm.Rendezvous(field, part)
	}
	for epoch := 1; epoch <= 2 && bad == ""; epoch++ {
		var want []float32
		if member {
			n, r := part.Size(), part.Rank()
			want = append(want, value((r+n-1)%n, cells, epoch))
			for cell := 1; cell <= cells; cell++ {
				want = append(want, value(r, cell, epoch))
			}
			want = append(want, value((r+1)%n, 1, epoch))
			field.CopyFrom(want)
			field.Slice(0, 1).Fill(-1)
			field.Slice(cells+1, cells+2).Fill(-1)
		}
		symm.Meet()
		var failed error
		if member {
			failed = symm.Maybe(func() { exchange(h, epoch) })
		}
		symm.Recover()
		gaveUp := func(kind symm.Kind) bool { e, ok := failed.(*symm.Error); return ok && e.Kind == kind }
		switch {
		case gaveUp(symm.KindTimeout), gaveUp(symm.KindDeadlock):
			bad = failed.Error() + ": all threads of the block call symm::put_with_signal, and each of the two messages has its own word"
		case failed != nil:
			bad = failed.Error()
		case member:
			bad = judge(field.Float32s(), want)
		}
		if !everywhere(bad == "") && bad == "" {
			bad = "all is right here, but not on another rank"
		}
	}
	if member {
		field.Free()
		part.Free()
	}
	return bad
}
if bad := tryOn(team.Ranks()); bad != "" {
	panic(bad)
}
if mates > 1 { // without the last rank
	if bad := tryOn(team.Ranks()[:mates-1]); bad != "" {
		panic(fmt.Sprintf("it is right on %d ranks, but not on %d: %s", mates, mates-1, bad))
	}
}

// One rank skips the second of two exchanges: its neighbours must notice.
symm.Meet()
exchange(hu, 1)
symm.Meet()
gaveUp := symm.Maybe(func() {
	if me != 0 {
		exchange(hu, 2)
	}
}) != nil
symm.Recover()
if neighbour := mates > 1 && (me == 1 || me == mates-1); !everywhere(!neighbour || gaveUp) {
	panic("the kernel ends although a neighbour has not sent in this epoch: it must wait for both words to reach the epoch")
}

// On the emulated device the sanitizer grades your code. Its result does not depend on which rank comes first.
symm.Sanitize(true, 0)
symm.Findings() // those of before
for epoch := 3; epoch <= 5; epoch++ {
	u.Fill(epoch)
	symm.Meet()
	halo.Launch(symm.Grid(1), symm.Block(32), hu, cells, uint64(epoch), symm.Timeout(20*time.Second))
	symm.Meet()
}
findings := symm.Findings()
symm.Sanitize(false, 0)
if !everywhere(len(findings) == 0) {
	said := "the halos are right by luck: the sanitizer finds accesses that nothing orders"
	for _, f := range findings {
		said += "\n- " + f.String()
	}
	panic(said)
}
fmt.Println("correct")

// %% [markdown]
// ## Over several hosts
//
// A launcher starts the ranks, and a script runs on them. Four ranks on one host:
//
//     torchrun --no-python --nproc-per-node 4 symmrepl run FILE.go
//
// Two hosts with two ranks each. Run this on both, on the second one with `--node-rank 1`:
//
//     export SYMMREPL_TOKEN=…        # a secret of at least 32 characters, the same on both
//     torchrun --no-python --nnodes 2 --node-rank 0 --nproc-per-node 2 \
//         --master-addr FIRST --master-port 29500 symmrepl run FILE.go
//
// Every rank on both hosts runs every cell. UCX carries the traffic between hosts, if its library
// is installed; `--net null` is for one machine only. Puts, gets, signals and barriers cross hosts,
// called by the host or by kernels (symm/remote.cuh), and so do the collectives in the table of
// docs/ops.md. Other operations are refused before anything runs; the message names the rank that
// cannot be reached, and the remedy. `:ranks` shows the host of each rank, and `:net` the
// traffic so far.
//
// The kernels of this tutorial translate line by line to NCCL's functions:
//
//     here                              NCCL GIN
//     symm.Empty and symm.Rendezvous    ncclMemAlloc and ncclCommWindowRegister
//     symm::put_with_signal(…)          gin.put(team, peer, window, offset, …, signal)
//     word = value                      a signal that is incremented
//     symm::wait_for_signal(…, true)    gin.waitSignal(coop, signal, least)
//     the return of the put             gin.flush(coop), or a counter
//
// One difference to note: here the signal of a put *sets* a word, so each word needs a single writer. In NCCL it *increments* one, so
// several peers may use it; here that is `h.SignalAdd`.
//
// ## What you know now
//
// - Put with a signal, wait, count: enough for hosts that share no memory.
// - Three questions: when was the source read, when has the data arrived, when may the place be
//   used again.
// - Wait for "at least", with an epoch that increases.
// - A strong signal covers all earlier puts to the peer, a weak signal only its own.
// - Two levels: collectives in the LSA team, puts along the rail.
// - One word for each message that may arrive.
//
// In PyTorch, `torch.ops.symm_mem.nccl_put_with_signal` and `nccl_wait_for_signal` are the calls from the host. `:doc
// symm.Handle.PutWithSignal` has the exact rules here.
//
// Read on: `:tutorial 12` measures all of this.
