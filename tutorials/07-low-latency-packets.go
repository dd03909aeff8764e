//go:build ignore

// Low-latency packets: data that says itself that it has come.

// %% [markdown]
// # Low-latency packets
//
// In tutorial 04 an all-reduce was a barrier, a loop that reads from the peers, and a barrier. For a short vector, adding is nothing, and what
// takes time is the way between the GPUs. Count the trips that come one after the other:
//
//     barrier               flags go to the peers                    1 trip
//     read from peers       the question goes, the answer comes      2 trips
//     barrier               flags go to the peers                    1 trip
//
// "Put, then signal" is not free either. A *fence* stands between the two, so that the signal does not overtake the data: in practice the GPU waits
// until the other end has answered that the data is there, and only then sends the signal.
//
// Can one trip do? Yes: **put data and flag into the same store.**
//
//     64 bits:   | epoch, 32 bits | data, 32 bits |
//
// An aligned store of 8 bytes is never seen in parts. Who reads the place sees the old 8 bytes or the new 8 bytes. So when the flag half is new, the data half is
// new, too. There is nothing to overtake, so there is no fence, no signal and no barrier. That is a **packet**.

// %% A packet in Go. The flag is a number, the epoch, which says which message this is.
func pack(x float32, epoch uint32) uint64    { return uint64(epoch)<<32 | uint64(math.Float32bits(x)) }
func unpack(p uint64) (x float32, epoch int) { return math.Float32frombits(uint32(p)), int(p >> 32) }

fmt.Printf("%016x\n", pack(1.5, 7))
fmt.Println(unpack(pack(1.5, 7)))

// %% [markdown]
// ## Send and receive
//
// Packets arrive in an **inbox**: symmetric memory with a place for each packet. It is zero at the beginning, so the first epoch is 1.

// %% An inbox for 8 packets, and what to send.
rank, size := symm.Rank(), symm.WorldSize()
right, left := (rank+1)%size, (rank+size-1)%size
n := 8
inbox := symm.Empty(symm.U64, n)
h := symm.Rendezvous(inbox)
in, out := symm.Local(symm.F32, n), symm.Local(symm.F32, n)

// %% [markdown]
// The sender stores a packet into the inbox of a peer. The receiver looks into its own inbox until the epoch is the one it wants.
//
//     symm::store_relaxed, symm::load_relaxed   one store, one load: the compiler may not split, repeat or leave them out
//     symm::Patience                            makes the wait end on Ctrl-C, or when a limit has passed
//
// *Relaxed* says: this puts nothing else in order. A signal cannot do with that: it needs *release* (all that I wrote before is seen before it) and
// *acquire* (all that I read after it is read after it), which is what its fences are for. A packet can: all that belongs together is in the same 8 bytes.

// %% The two kernels. Each thread handles one packet.
text := `
__global__ void send(symm::Handle h, int to, const float* in, unsigned epoch) {
  int i = threadIdx.x;
  symm::u64 packet = (symm::u64)epoch << 32 | __float_as_uint(in[i]);
  symm::store_relaxed(h.buffer<symm::u64>(to) + i, packet);
}

__global__ void receive(symm::Handle h, int from, float* out, unsigned epoch) {
  int i = threadIdx.x;
  const symm::u64* place = h.buffer<symm::u64>(h.rank) + i;
  symm::u64 packet = symm::load_relaxed(place);
  symm::Patience patience;
  symm::Wait wait = {symm::kUser, (unsigned)from, 0, epoch};  // a wait of ours, for whom, on no channel, for what: if it takes long, that is told
  while (packet >> 32 != epoch) {
    if (patience.expired(h, wait, packet >> 32)) return;
    packet = symm::load_relaxed(place);
  }
  patience.satisfied(h);
  out[i] = __uint_as_float((unsigned)packet);
}`
send := symm.Compile(text)
receive := send.Kernel("receive")

// %% Everybody sends to the right and receives from the left.
in.Fill(100 + rank)
send.Launch(symm.Grid(1), symm.Block(n), h, right, in, 1)
receive.Launch(symm.Grid(1), symm.Block(n), h, left, out, 1)
out.Float32s()

// %% [markdown]
// One trip, and each packet is waited for by itself: a thread goes on as soon as *its* packet is there. Packets may arrive in any order.
//
// The packet stays in the inbox:

// %% Data and epoch of the first one.
fmt.Println(unpack(uint64(inbox.Ints()[0])))

// %% [markdown]
// ## The epoch has to change
//
// Nobody clears the inbox: that would cost time. Instead the next message has the next epoch. What if it does not?

// %% The receiver takes the old message for the new one.
out.Fill(0)
receive.Launch(symm.Grid(1), symm.Block(n), h, left, out, 1)
out.Float32s()[0]

// %% [markdown]
// It did not wait at all, although nobody has sent. With epoch 2 it waits, here for 300 ms at most:

// %% [fails] Nobody sends epoch 2.
receive.Launch(symm.Grid(1), symm.Block(n), h, left, out, 2, symm.Timeout(300*time.Millisecond))
symm.Synchronize()

// %% [markdown]
// The message says from whom a packet is missing, which epoch the kernel wants, and which one it sees.
//
// ## A place can be overwritten
//
// Let the sender be quicker than the receiver: it sends epochs 3 and 4 before the receiver looks for 3.

// %% [fails] Epoch 3 is gone.
send.Launch(symm.Grid(1), symm.Block(n), h, right, in, 3)
send.Launch(symm.Grid(1), symm.Block(n), h, right, in, 4)
h.Barrier(0) // all packets are there
receive.Launch(symm.Grid(1), symm.Block(n), h, left, out, 3, symm.Timeout(300*time.Millisecond))
symm.Synchronize()

// %% [markdown]
// The receiver waits for ever for a packet that *was* there. So a sender must know that its last packet has been read. A signal back would cost
// another trip. There is something better.
//
// ## Two banks
//
// Give the inbox two halves, called banks. Odd epochs go into one, even epochs into the other. This is *double buffering*: a sender may be one epoch
// ahead. And can it be two epochs ahead? Not if, in each epoch, **everybody sends to everybody**:
//
//     I have received epoch e+1 from you
//       → so you have sent e+1
//       → so you have finished epoch e, and read what I sent then
//       → so I may write e+2 where e was
//
// The packets that I receive anyway tell me that my places are free. In our ring that would not hold: I hear from my left, but I write to my right.
//
// Now the all-reduce of tutorial 04 once more, with packets. Look for barriers.

// %% The inbox has a part for each bank, and in it a part for each sender.
n = 100
boxes := symm.Empty(symm.U64, 2, size, n)
hBoxes := symm.Rendezvous(boxes)
in, out = symm.Local(symm.F32, n), symm.Local(symm.F32, n)
epoch := 0

// %% An all-reduce without any barrier.
sum := symm.Compile(`
// box is where the packets of an epoch lie that source has sent to owner.
__device__ symm::u64* box(const symm::Handle& h, int owner, int source, unsigned epoch, int n) {
  return h.buffer<symm::u64>(owner) + ((epoch & 1) * h.world_size + source) * n;
}

__device__ bool receive(const symm::Handle& h, int source, unsigned epoch, int n, int i, float* x) {
  const symm::u64* place = box(h, h.rank, source, epoch, n) + i;
  symm::u64 packet = symm::load_relaxed(place);
  symm::Patience patience;
  symm::Wait wait = {symm::kUser, (unsigned)source, 0, epoch};
  while (packet >> 32 != epoch) {
    if (patience.expired(h, wait, packet >> 32)) return false;
    packet = symm::load_relaxed(place);
  }
  patience.satisfied(h);
  *x = __uint_as_float((unsigned)packet);
  return true;
}

__global__ void sum(symm::Handle h, const float* in, float* out, int n, unsigned epoch) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    symm::u64 packet = (symm::u64)epoch << 32 | __float_as_uint(in[i]);
    for (int p = 0; p < h.world_size; p++) symm::store_relaxed(box(h, p, h.rank, epoch, n) + i, packet);
    float total = 0;
    for (int p = 0; p < h.world_size; p++) {
      float x;
      if (!receive(h, p, epoch, n, i, &x)) return;
      total += x;
    }
    out[i] = total;
  }
}`)
launch := func() {
	epoch++
	sum.Launch(symm.Grid(1), symm.Block(128), hBoxes, in, out, n, epoch)
}
in.Fill(rank + 1)
launch()
total := out.Float32s()
fmt.Println(total[0], total[n-1])

// %% [markdown]
// A rank may overwrite `in` right after the kernel: its values are in the others' inboxes already. So twenty of them can follow each other, without
// anything between, and with a rank that is late now and then.

// %% Twenty all-reduces. Each time somebody else is late.
good := 0
for step := range 20 {
	if step%size == rank {
		time.Sleep(time.Millisecond)
	}
	in.Fill(step * (rank + 1))
	launch()
	if out.Float32s()[n-1] == float32(step*size*(size+1)/2) {
		good++
	}
}
fmt.Println(good, "of 20 are right")

// %% [markdown]
// What does it save? Here is the kernel with barriers again, and the time of both. On the emulated device the times say little. On GPUs compare them.

// %% [varies] Device time of one all-reduce, with barriers and with packets.
x := symm.Empty(symm.F32, n)
hx := symm.Rendezvous(x)
barriers := symm.Compile(`
__global__ void barriers(symm::Handle h, float* out, int n) {
  if (!symm::barrier(h, 0)) return;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float total = 0;
    for (int p = 0; p < h.world_size; p++) total += h.buffer<float>(p)[i];
    out[i] = total;
  }
  symm::barrier(h, 0);
}`)
h.Barrier(0)
byBarriers := symm.Elapsed(func() {
	for range 100 {
		barriers.Launch(symm.Grid(1), symm.Block(128), hx, out, n)
	}
}) / 100
byPackets := symm.Elapsed(func() {
	for range 100 {
		launch()
	}
}) / 100
fmt.Println("barriers", byBarriers, "packets", byPackets)

// %% [markdown]
// ## What packets cost
//
// Half of what we send is epoch. Larger packets waste less:
//
//     packet              data     stored by
//     8 bytes, ours       4        one thread, one store
//     16 bytes            12       one thread, one store: symm::Packet, symm::store_packet, symm::load_packet
//     128 bytes, a line   120      eight threads of a warp, one instruction: symm::store_line, symm::load_line
//
// The first two rest on what the GPU's memory model promises. The last does not: that the stores of one instruction to one line arrive together
// is only known of some GPUs, over NVLink. NCCL calls the first and the last LL and LL128. The comment at the beginning of `kernels/include/symm/line.cuh` tells what
// symmrepl relies on, and where.

// %% Bytes that a rank sends to each peer, for 4 KiB and for 4 MiB of data.
for _, data := range []int{4 << 10, 4 << 20} {
	fmt.Println(data, "bytes of data: small packets", data*8/4, "large", (data+11)/12*16, "lines", (data+119)/120*128)
}

// %% [markdown]
// For 4 KiB nobody minds, since the trip takes longer than the bytes. For 4 MiB a third more bytes is a third more time, and two barriers are
// nothing. So the one-shot all-reduce of symmrepl takes packets for small messages and barriers for large ones. `symm.Explain` tells which it took:

// %% Small and large.
y := symm.Empty(symm.F32, 1<<19)
symm.Rendezvous(y)
fmt.Println(symm.Explain(func() { symm.OneShotAllReduce(y.Slice(0, 100), "sum") }))
fmt.Println(symm.Explain(func() { symm.OneShotAllReduce(y, "sum") }))

// %% [markdown]
// ## Your turn

// %% An inbox for your kernel, and room for what everybody has.
answer := symm.Empty(symm.U64, 2, size, n)
hAnswer := symm.Rendezvous(answer)
all := symm.Local(symm.F32, size*n)

// %% [exercise] Collect by packets
// Write a kernel `collect` with the same parameters as `sum`. It is an all-gather: `out` has a part of `n` elements for each rank, and `out[p*n + i]` shall be `in[i]` of
// rank `p`. There is no barrier, and the inbox has two banks as above: it is a tensor of its own, `[2, size, n]`. It is launched with one block of
// 128 threads.
//
// Everybody sends to everybody, itself too. Begin with the code of `sum`: the functions `box` and `receive` can stay as they are.

// %% [start]
collect := symm.Compile(`
__global__ void collect(symm::Handle h, const float* in, float* out, int n, unsigned epoch) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[h.rank * n + i] = in[i];
}`)

// %% [hint]
// Copy the whole text of `sum` and rename the kernel. Sending stays as it is: what each rank has goes to all.

// %% [hint]
// Receiving stays, too. But `x` of rank `p` is not added to a total: where does it belong?

// %% [hint]
// In the second loop: `out[p * n + i] = x;`

// %% [solution]
collect := symm.Compile(`
__device__ symm::u64* box(const symm::Handle& h, int owner, int source, unsigned epoch, int n) {
  return h.buffer<symm::u64>(owner) + ((epoch & 1) * h.world_size + source) * n;
}

__global__ void collect(symm::Handle h, const float* in, float* out, int n, unsigned epoch) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    symm::u64 packet = (symm::u64)epoch << 32 | __float_as_uint(in[i]);
    for (int p = 0; p < h.world_size; p++) symm::store_relaxed(box(h, p, h.rank, epoch, n) + i, packet);
    for (int p = 0; p < h.world_size; p++) {
      const symm::u64* place = box(h, h.rank, p, epoch, n) + i;
      symm::Patience patience;
      symm::Wait wait = {symm::kUser, (unsigned)p, 0, epoch};
      while ((packet = symm::load_relaxed(place)) >> 32 != epoch)
        if (patience.expired(h, wait, packet >> 32)) return;
      patience.satisfied(h);
      out[p * n + i] = __uint_as_float((unsigned)packet);
    }
  }
}`)

// %% [wrong]
collect := symm.Compile(`
__global__ void collect(symm::Handle h, const float* in, float* out, int n, unsigned epoch) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    symm::u64 packet = (symm::u64)epoch << 32 | __float_as_uint(in[i]);
    for (int p = 0; p < h.world_size; p++) symm::store_relaxed(h.buffer<symm::u64>(p) + h.rank * n + i, packet);
    for (int p = 0; p < h.world_size; p++) {
      const symm::u64* place = h.buffer<symm::u64>(h.rank) + p * n + i;
      symm::Patience patience;
      symm::Wait wait = {symm::kUser, (unsigned)p, 0, epoch};
      while ((packet = symm::load_relaxed(place)) >> 32 != epoch)
        if (patience.expired(h, wait, packet >> 32)) return;
      patience.satisfied(h);
      out[p * n + i] = __uint_as_float((unsigned)packet);
    }
  }
}`)

// %% [wrong]
collect := symm.Compile(`
__global__ void collect(symm::Handle h, const float* in, float* out, int n, unsigned epoch) {
  int bank = epoch & 1;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    symm::u64 packet = (symm::u64)epoch << 32 | __float_as_uint(in[i]);
    for (int p = 0; p < h.world_size; p++) symm::store_relaxed(h.buffer<symm::u64>(p) + (bank * h.world_size + h.rank) * n + i, packet);
    for (int p = 0; p < h.world_size; p++) {
      const symm::u64* place = h.buffer<symm::u64>(h.rank) + (bank * h.world_size + p) * n + i;
      symm::Patience patience;
      symm::Wait wait = {symm::kUser, (unsigned)p, 0, epoch};
      while ((packet = symm::load_relaxed(place)) == 0)
        if (patience.expired(h, wait, packet >> 32)) return;
      patience.satisfied(h);
      out[p * n + i] = __uint_as_float((unsigned)packet);
    }
  }
}`)

// %% [check]
symm.Recover() // of waits that an earlier answer has left
answer.Fill(0)
hAnswer.Barrier(0)
limit := symm.Timeout(time.Second)
found := make([]int, 4) // what is wrong, in the order in which it is said
if symm.Maybe(func() { // four epochs, one after the other
	for e := 1; e <= 4; e++ {
		in.Fill(10*e + rank)
		collect.Launch(symm.Grid(1), symm.Block(128), hAnswer, in, all, n, e, limit)
		for i, got := range all.Float32s() {
			if got != float32(10*e+i/n) {
				found[1] = 1
			}
		}
	}
}) != nil {
	found[0] = 1
}
for i, p := range answer.Ints() { // [bank][source][i]; the last epochs were 4 in bank 0 and 3 in bank 1
	if x, e := unpack(uint64(p)); e != 4-i/(size*n) || x != float32(10*e+i/n%size) {
		found[2] = 1
	}
}
symm.Recover() // all ranks have looked: epoch 5 may come
if rank != 0 && symm.Maybe(func() { // rank 0 stays away
	collect.Launch(symm.Grid(1), symm.Block(128), hAnswer, in, all, n, 5, limit)
	symm.Synchronize()
}) == nil {
	found[3] = 1
}
symm.Recover()
verdict := symm.Empty(symm.I32, 4).CopyFrom(found)
symm.Rendezvous(verdict)
switch found = symm.AllReduce(verdict, "max").Ints(); {
case found[0] > 0:
	panic("a packet was waited for in vain: does everybody send to everybody, itself too, into the bank of the epoch?")
case found[1] > 0:
	panic("out is not everybody's in: out[p*n + i] has to be in[i] of rank p, of this epoch")
case found[2] > 0:
	panic("the values are right, but after epochs 3 and 4 the inbox does not hold both: which bank does each epoch go into?")
case found[3] > 0:
	panic("a rank has not sent epoch 5, and the kernel did not wait for it: compare with the epoch, since the inbox still has an older one")
}
fmt.Println("correct")

// %% [markdown]
// ## What you know now
//
// - A packet has its flag in the same store as its data. It costs one trip and no fence.
// - The flag is an epoch that counts up, so nobody has to clear anything.
// - Two banks are enough if, in each epoch, everybody sends to everybody.
// - Packets are for short messages. They make long ones longer.
//
// The packets of symmrepl itself are in `kernels/packets/packets.cuh`: of 16 bytes, in two banks. The epochs stand in device memory there, since a graph that is
// replayed has the same arguments each time. On four H200s an all-reduce of 4 KiB takes 2.6 µs that way, launch and all; `docs/benchmarks.md` has
// the table.
//
// Read on: `:tutorial 08` is about messages whose lengths only the GPU knows.
