//go:build ignore

// NCCL's device API: from a slide to a cell.

// %% [markdown]
// # NCCL's device API: from slide to cell
//
// Until now your kernels used symmrepl's names to communicate: `h.buffer(p)`, `symm::barrier`, puts
// and signals. NCCL (2.28 and newer) has the same ideas under its own names, and talks, examples
// and libraries use those names. In this tutorial you take code from a slide, run it, and see what
// it promises.
//
// Nothing has to be installed: `nccl_device.h` is one of symmrepl's own headers, with NCCL's names
// and rules. It works on the cpu device, too, and its waits end if something goes wrong.
//
//     symmrepl tutorial 14 -n 4                          all ranks on one host
//     symmrepl tutorial 14 -n 4 --hosts 2 --net null     two hosts, with a network that you can disturb
//
// NCCL reaches a peer in three ways. You know them under other names:
//
//     LSA        load/store accessible: pointers to peers on my host     tutorials 02 to 05
//     multimem   one address for all of them, in the switch              needs a switch that does it
//     GIN        GPU-initiated networking: put, signal, wait             tutorial 11
//
// ![A kernel of rank 0 reaches rank 1 on its host by a pointer, and the ranks of the other host by puts.](picture:reach)

// %% Who am I?
rank, size := symm.Rank(), symm.WorldSize()
left := (rank + size - 1) % size
host := symm.LSA()
const n = 64

// %% [markdown]
// A kernel gets two objects, which the host makes before the launch:
//
//     a window                memory that every rank has registered           ncclCommWindowRegister    symm.Window(t)
//     a device communicator   the ranks, and what they synchronise with       ncclDevCommCreate         symm.DevComm(symm.DevReqs{…})
//
// A window names memory by an offset, never by an address. The communicator must know from the
// start how many barriers and signals the kernels will use: `DevReqs` requests them. A barrier or
// signal that you did not request does not exist.

// %% A window, and a communicator with four barriers and four signals.
x := symm.Empty(symm.F32, n).Fill(rank + 1)
w := symm.Window(x)
comm := symm.DevComm(symm.DevReqs{LsaBarriers: 4, WorldGinBarriers: 4, GinSignals: 4})
fmt.Println(w)
fmt.Println(comm)

// %% [markdown]
// ## Loads and stores
//
// The slide says `float* ptr = ncclGetPeerPointer(devComm, offset, peer);`. Type that into a kernel.

// %% [fails] As on the slide.
symm.Compile(`
#include <nccl_device.h>
__global__ void load(ncclDevComm devComm, ncclWindow_t win, float* out, int peer) {
  float* ptr = ncclGetPeerPointer(devComm, 0, peer);
  out[0] = ptr[0];
}`)

// %% [markdown]
// Slides are not compiled. As the message says, the function takes the window, an offset in bytes,
// and the peer. It returns a `void*`.
//
// `ncclGetPeerPointer` numbers the ranks of the world, and `ncclGetLsaPointer` the ranks of my
// host, from 0 to `comm.lsaSize - 1`.
//
// Now the all-reduce of tutorial 04, within a host: wait until all ranks have arrived, add up their
// vectors, wait until all ranks have read. The barrier is a *session*, which a group of threads
// opens together:
//
//     ncclCoopCta()          these threads: the whole block. Also: ncclCoopWarp(), ncclCoopThread(), ncclCoopTile<8>()
//     ncclTeamTagLsa()       these ranks: those of my host
//     blockIdx.x             this barrier: every block meets its counterparts on the other ranks, and needs one of its own
//     memory_order_acquire   I see what others wrote before they arrived. With release: they see what I wrote before

// %% The all-reduce of a host.
oneShot := symm.Compile(`
#include <nccl_device.h>
__global__ void one_shot(ncclDevComm comm, ncclWindow_t win, float* out, int n) {
  ncclLsaBarrierSession<ncclCoopCta> bar{ncclCoopCta(), comm, ncclTeamTagLsa(), blockIdx.x};
  bar.sync(ncclCoopCta(), cuda::memory_order_acquire);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float total = 0;
    for (int p = 0; p < comm.lsaSize; p++) total += ((float*)ncclGetLsaPointer(win, 0, p))[i];
    out[i] = total;
  }
  bar.sync(ncclCoopCta(), cuda::memory_order_release);
}`)
out := symm.Local(symm.F32, n)
oneShot.Launch(symm.Grid(2), symm.Block(32), comm, w, out, n)
total := 0
for _, r := range host.Ranks() {
	total += r + 1
}
fmt.Println("the sum of the host:", out.Equal(total))

// %% [markdown]
// With NCCL, a kernel that uses a barrier that was not requested overwrites other memory. Here you
// get an error. The communicator has four barriers; five blocks need five.

// %% [fails] Too many blocks.
oneShot.Launch(symm.Grid(5), symm.Block(32), comm, w, out, n)
symm.Synchronize()

// %% [markdown]
// ## Put, signal, wait
//
// Between hosts there are no pointers: `ncclGetPeerPointer` returns none for a peer on another
// host, and symmrepl reports that as an error. GIN reaches every rank. Its steps are the ones of
// tutorial 11:
//
//     ncclGin gin{comm, 0};                                       a context: an order of my puts, and a set of signals
//     gin.put(team, peer, dst, offset, src, offset, bytes,        from my window into the peer's,
//             ncclGin_SignalInc{0});                              and then its signal 0 grows by one
//     gin.waitSignal(ncclCoopCta(), 0, least);                    until my signal 0 is at least so much
//     gin.flush(ncclCoopCta());                                   until my sources may be overwritten
//
// Signals keep counting from launch to launch. So a kernel first *reads* its signal, and then waits
// until the signal has grown. When must it read? Before any rank can have put, that is, before the
// barrier.

// %% To the right. The first half of the window is what I send, the second what I get.
ring := symm.Compile(`
#include <nccl_device.h>
__global__ void ring(ncclDevComm comm, ncclWindow_t win, size_t half) {
  ncclGin gin{comm, 0};
  ncclTeam world = ncclTeamWorld(comm);
  unsigned long long before = gin.readSignal(0);  // nobody has put: they are before the barrier, too
  ncclGinBarrierSession<ncclCoopCta> bar{ncclCoopCta(), gin, ncclTeamTagWorld(), 0};
  bar.sync(ncclCoopCta(), cuda::memory_order_relaxed, ncclGinFenceLevel::None);
  if (threadIdx.x == 0) gin.put(world, (world.rank + 1) % world.nRanks, win, half, win, 0, half, ncclGin_SignalInc{0});
  gin.waitSignal(ncclCoopCta(), 0, before + 1);
  gin.flush(ncclCoopCta());
}`)
half := x.Bytes() / 2
for round := range 3 {
	x.Slice(0, n/2).Fill(100*round + rank)
	ring.Launch(symm.Grid(1), symm.Block(32), comm, w, half)
	fmt.Println("round", round, "from the left:", x.Slice(n/2, n).Equal(100*round+left))
}

// %% [markdown]
// The slide's `ncclGinFenceLevel::relaxed` is `Relaxed`, or `None`: this barrier only says that all
// ranks have arrived; their puts may still be on the way. With `Put` it also says that the other
// ranks' puts to me have landed, and with `Get` that the data of my gets has arrived.
//
// Which guarantees do you have? This table is the whole contract.
//
//     after                            you know
//     put has returned                 nothing. It was requested
//     flush, or my counter             the source may be overwritten. Nothing of the peer
//     a signal of a weak put           the data of its own put
//     a signal of a strong put         its own data, and all that this rank put to me before, in this context
//     the barrier, None                all have arrived
//     the barrier, Put                 and their puts to me have landed
//     the LSA barrier                  loads and stores inside the host. Nothing of GIN
//
// A name without Strong or Weak is strong.

// %% [exercise] Predict: what a signal counts
// In a kernel every rank puts once to each *other* rank, each time with `ncclGin_SignalInc{0}`. Five ranks launch it four times, and nobody
// resets a signal. What is signal 0 of a rank then?

// %% [start]
predict := 0.0

// %% [hint]
// How many puts come to one rank in one launch?

// %% [hint]
// A signal keeps counting from launch to launch.

// %% [solution]
predict := 16.0

// %% [check]
switch float64(predict) {
case 4 * (5 - 1):
	fmt.Println("correct")
case 0:
	panic("predict is still 0: each put that comes adds one to the signal")
case 4:
	panic("4 would be right for one launch, or for a ring: here several ranks put to each, in each of four launches")
case 20:
	panic("20 would be right if a rank also put to itself")
case 80, 100:
	panic(fmt.Sprintf("%v counts the puts to all ranks: each rank has a signal of its own", predict))
default:
	panic(fmt.Sprintf("not %v: count the puts to one rank in a launch, times the launches", predict))
}

// %% [markdown]
// A kernel that violates this table often gives the right
// result by luck: `:net delay 200us reorder on` removes the luck, as in tutorial 11.
//
// ## Several steps in one launch
//
// A kernel that goes around the ring step by step uses its inbox again in each step. So the questions of tutorial 11 come back inside one
// launch: when has the data of *this* step arrived, and when may the left neighbour put again?

// %% A window with what I have and what I get, and a communicator with one barrier and one signal.
const each = 16
z := symm.Empty(symm.I32, 2*each)
twoHalves := symm.Window(z)
turning := symm.DevComm(symm.DevReqs{WorldGinBarriers: 1, GinSignals: 1})

// %% [exercise] Repair: turn
// In each step of `turn`, every rank puts the first half of its window into the second half of its right neighbour's, waits for what the
// left neighbour has put, and copies it into its own first half. So after 3 steps a rank has the numbers of the rank 3 places to its left.
// For one step the kernel is right. For more it has two mistakes: repair both. It is launched with one block of 32 threads.

// %% [start]
turn := symm.Compile(`
#include <nccl_device.h>
__global__ void turn(ncclDevComm comm, ncclWindow_t win, size_t half, int steps) {
  ncclGin gin{comm, 0};
  ncclTeam world = ncclTeamWorld(comm);
  int* mine = (int*)ncclGetLocalPointer(win, 0);
  const int n = half / sizeof(int), right = (world.rank + 1) % world.nRanks;
  unsigned long long before = gin.readSignal(0);
  ncclGinBarrierSession<ncclCoopCta> bar{ncclCoopCta(), gin, ncclTeamTagWorld(), 0};
  bar.sync(ncclCoopCta(), cuda::memory_order_relaxed, ncclGinFenceLevel::None);
  for (int step = 1; step <= steps; step++) {
    if (threadIdx.x == 0) gin.put(world, right, win, half, win, 0, half, ncclGin_SignalInc{0});
    gin.waitSignal(ncclCoopCta(), 0, before + 1);
    gin.flush(ncclCoopCta());                       // the first half may be overwritten
    for (int i = threadIdx.x; i < n; i += blockDim.x) mine[i] = mine[n + i];
  }
}`)

// %% [hint]
// How much has my signal grown when the data of step 2 has arrived? Does the wait of step 2 wait at all?

// %% [hint]
// A fast left neighbour puts the data of step 2 while I still copy the data of step 1. How do ranks learn that all have copied?

// %% [hint]
// Wait for `before + step`. After the copy, all ranks meet: the `bar.sync` from above, once more.

// %% [solution]
turn := symm.Compile(`
#include <nccl_device.h>
__global__ void turn(ncclDevComm comm, ncclWindow_t win, size_t half, int steps) {
  ncclGin gin{comm, 0};
  ncclTeam world = ncclTeamWorld(comm);
  int* mine = (int*)ncclGetLocalPointer(win, 0);
  const int n = half / sizeof(int), right = (world.rank + 1) % world.nRanks;
  unsigned long long before = gin.readSignal(0);
  ncclGinBarrierSession<ncclCoopCta> bar{ncclCoopCta(), gin, ncclTeamTagWorld(), 0};
  bar.sync(ncclCoopCta(), cuda::memory_order_relaxed, ncclGinFenceLevel::None);
  for (int step = 1; step <= steps; step++) {
    if (threadIdx.x == 0) gin.put(world, right, win, half, win, 0, half, ncclGin_SignalInc{0});
    gin.waitSignal(ncclCoopCta(), 0, before + step);
    gin.flush(ncclCoopCta());                       // the first half may be overwritten
    for (int i = threadIdx.x; i < n; i += blockDim.x) mine[i] = mine[n + i];
    bar.sync(ncclCoopCta(), cuda::memory_order_relaxed, ncclGinFenceLevel::None);
  }
}`)

// %% [check]
symm.Recover() // ends waits that an earlier answer left
judged := symm.Empty(symm.I32, 3)
symm.Rendezvous(judged)
turns := 0
around := func(steps int, limit time.Duration) (gaveUp, wrong bool) {
	turns++
	z.Fill(-1)
	z.Slice(0, each).Fill(100*turns + rank)
	symm.Meet()
	gaveUp = symm.Maybe(func() {
		turn.Launch(symm.Grid(1), symm.Block(32), turning, twoHalves, 4*each, steps, symm.Timeout(limit))
		symm.Synchronize()
	}) != nil
	if gaveUp {
		return true, false
	}
	from := ((rank-steps)%size + size) % size
	return false, !z.Slice(0, each).Equal(100*turns+from)
}
worst := func(steps int, limit time.Duration, watch bool) (gaveUp, wrong, raced bool, list []symm.Finding) { // of all ranks
	if watch {
		symm.Sanitize(true, 0)
		symm.Findings() // those of before
	}
	found := make([]int, 3)
	failed, differs := around(steps, limit)
	symm.Recover()
	if failed {
		found[0] = 1
	}
	if differs {
		found[1] = 1
	}
	if watch {
		symm.Meet()
		list = symm.Findings()
		symm.Sanitize(false, 0)
		found[2] = len(list)
	}
	found = symm.AllReduce(judged.CopyFrom(found), "max").Ints()
	return found[0] > 0, found[1] > 0, found[2] > 0, list
}
for _, steps := range []int{1, 3, 4, 2} {
	switch gaveUp, wrong, _, _ := worst(steps, time.Second, false); {
	case gaveUp:
		panic("a wait gave up: in step s the signal has grown by s since before, and all ranks must reach each barrier")
	case wrong && steps == 1:
		panic("one step goes wrong: put the first half into the second half of the right neighbour's window, and copy what has come into the first")
	case wrong:
		panic(fmt.Sprintf("after %d steps a rank does not have the numbers of the rank %d places to its left: each step waits for one more signal, and nobody puts into an inbox that has not been copied", steps, steps))
	}
}
// The sanitizer grades your code. Its result does not depend on which rank comes first.
if _, wrong, raced, list := worst(3, 20*time.Second, true); wrong || raced {
	said := "right by luck: each step waits for one more signal, and nobody puts into an inbox that has not been copied"
	for _, f := range list {
		said += "\n- " + f.String()
	}
	panic(said)
}
rail := symm.Rail() // a team of fewer ranks, on which it must be right, too
members := rail.Size()
symm.Sanitize(true, 0)
z.Slice(0, each).Fill(rail.Rank())
railWindow, railComm := symm.Window(z, rail), symm.DevComm(symm.DevReqs{WorldGinBarriers: 1, GinSignals: 1}, rail)
symm.Meet()
failed := 0
if symm.Maybe(func() {
	turn.Launch(symm.Grid(1), symm.Block(32), railComm, railWindow, 4*each, 2, symm.Timeout(time.Second))
	symm.Synchronize()
}) != nil || !z.Slice(0, each).Equal((rail.Rank()+2*members-2)%members) {
	failed = 1
}
symm.Recover()
symm.Findings() // the message below is enough
symm.Sanitize(false, 0)
if symm.AllReduce(judged.CopyFrom([]int{failed, 0, 0}), "max").Ints()[0] > 0 {
	panic(fmt.Sprintf("it is right on %d ranks, but not on a team of %d: world.nRanks is the number of ranks", size, members))
}
fmt.Println("correct")

// %% [markdown]
// The last barrier needs no fence: each rank has waited for its own data. It says that all have copied. On two hosts the kernel would also be
// wrong without the flush, and there the sanitizer says so.
//
// ## Both at once
//
// NCCL's examples end with a *hybrid* all-to-all: pointers for the ranks on my host, puts for all
// others. The barrier of the world is hybrid as well: it meets inside the hosts, then along the
// rails. It needs `Barriers`, and GIN signals that no other code uses.

// %% Element p of the window goes to rank p, into place rank.
m := symm.Empty(symm.I32, 2*size)
win := symm.Window(m)
hybrid := symm.DevComm(symm.DevReqs{Barriers: 1, GinSignals: 1})
allToAll := symm.Compile(`
#include <nccl_device.h>
__global__ void all_to_all(ncclDevComm comm, ncclWindow_t win) {  // one block
  ncclGin gin{comm, 0};
  ncclTeam world = ncclTeamWorld(comm), lsa = ncclTeamLsa(comm);
  const int* mine = (const int*)ncclGetLocalPointer(win, 0);
  const size_t place = (world.nRanks + world.rank) * sizeof(int);
  unsigned long long before = gin.readSignal(0);
  ncclBarrierSession<ncclCoopCta> bar{ncclCoopCta(), ncclTeamTagWorld(), gin, 0};
  bar.sync(ncclCoopCta(), cuda::memory_order_acquire, ncclGinFenceLevel::None);
  for (int p = threadIdx.x; p < world.nRanks; p += blockDim.x) {
    if (ncclTeamRankIsMember(lsa, world, p)) *(int*)ncclGetPeerPointer(win, place, p) = mine[p];
    else gin.put(world, p, win, place, win, p * sizeof(int), sizeof(int), ncclGin_SignalInc{0});
  }
  gin.waitSignal(ncclCoopCta(), 0, before + world.nRanks - lsa.nRanks);
  bar.sync(ncclCoopCta(), cuda::memory_order_acq_rel, ncclGinFenceLevel::None);
}`)
for p := range size {
	m.Slice(p, p+1).Fill(10*rank + p)
}
allToAll.Launch(symm.Grid(1), symm.Block(32), hybrid, win)
m.Ints()[size:]

// %% [markdown]
// The kernel ends when the signals of all remote ranks have come, and when the last barrier has
// covered the ranks on this host. The last barrier needs no fence: the signals already say that the
// puts have landed.
//
// ## From PyTorch
//
// PyTorch offers some of these operations without a kernel of your own. Here are its names, and the
// lines that do the same here:
//
//     symm_mem.set_backend("NCCL")                  symmrepl --backend NCCL, symm.SetBackend
//     symm_mem.empty, rendezvous                    x := symm.Empty(symm.F32, n); h := symm.Rendezvous(x)
//     symm_mem.one_shot_all_reduce                  symm.OneShotAllReduce(x, "sum")
//     symm_mem.nccl_put                             h.Put(peer, message)
//     symm_mem.nccl_get                             h.Get(peer, message)
//     symm_mem.nccl_put_with_signal                 h.PutWithSignal(peer, message, 0, 1)
//     symm_mem.nccl_wait_for_signal                 h.WaitForSignal(0, ">=", 1)
//     handle.put_signal, wait_signal                h.PutSignal(peer, channel), h.WaitSignal(peer, channel)
//     CuTe: gin.put(…, signal_id=1, …)              gin.put(…, ncclGin_SignalInc{1})
//     CuTe: gin.wait_signal(…, signal=1, least=1)   gin.waitSignal(ncclCoopCta(), 1, 1)

// %% A window for your kernel: a place for every rank, and mine is filled.
y := symm.Empty(symm.I32, 4*size)
y.Slice(4*rank, 4*rank+4).Fill(rank + 1)
gathered := symm.Window(y)
gather := symm.DevComm(symm.DevReqs{WorldGinBarriers: 1, GinSignals: 1})

// %% [exercise] An all-gather by puts
// Write a kernel `all_gather(ncclDevComm comm, ncclWindow_t win, size_t bytes)`. Each rank has
// `bytes` at the offset `rank * bytes` of its window, and when the kernel ends, all ranks must have
// these bytes at the same offset. Use only puts, so that it works on any hosts. It is launched with
// one block of 32 threads, several times; the communicator has one barrier of the world and one
// signal.

// %% [start]
allGather := symm.Compile(`
#include <nccl_device.h>
__global__ void all_gather(ncclDevComm comm, ncclWindow_t win, size_t bytes) {
  ncclGin gin{comm, 0};
  ncclTeam world = ncclTeamWorld(comm);
}`)

// %% [hint]
// It is the ring with another loop: put to every other rank, from the offset `world.rank * bytes`
// to the same offset.

// %% [hint]
// How often does my signal grow? Once for each other rank.

// %% [hint]
// Read the signal before the barrier. Let thread `p` put to rank `p`, and let all threads wait for `before + world.nRanks - 1`.

// %% [solution]
allGather := symm.Compile(`
#include <nccl_device.h>
__global__ void all_gather(ncclDevComm comm, ncclWindow_t win, size_t bytes) {
  ncclGin gin{comm, 0};
  ncclTeam world = ncclTeamWorld(comm);
  const size_t mine = world.rank * bytes;
  unsigned long long before = gin.readSignal(0);
  ncclGinBarrierSession<ncclCoopCta> bar{ncclCoopCta(), gin, ncclTeamTagWorld(), 0};
  bar.sync(ncclCoopCta(), cuda::memory_order_relaxed, ncclGinFenceLevel::None);
  for (int p = threadIdx.x; p < world.nRanks; p += blockDim.x)
    if (p != world.rank) gin.put(world, p, win, mine, win, mine, bytes, ncclGin_SignalInc{0});
  gin.waitSignal(ncclCoopCta(), 0, before + world.nRanks - 1);
  gin.flush(ncclCoopCta());
}`)

// %% [check]
symm.Recover() // ends waits that an earlier answer left
found := make([]int, 4) // mistakes found, in the order of the messages below
verdict := symm.Empty(symm.I32, 4)
symm.Rendezvous(verdict)
round := func(number int, limit time.Duration) {
	y.Fill(-1)
	y.Slice(4*rank, 4*rank+4).Fill(100*number + rank)
	allGather.Launch(symm.Grid(1), symm.Block(32), gather, gathered, 16, symm.Timeout(limit))
}
for number := 1; number <= 3 && found[0] == 0; number++ {
	if symm.Maybe(func() { round(number, time.Second); symm.Synchronize() }) != nil {
		found[0] = 1
		break
	}
	for i, v := range y.Ints() {
		switch {
		case v == 100*number+i/4:
		case v == 100*number+rank, i/4 == rank:
			found[1] = 1
		case v == -1:
			found[2] = 1
		default:
			found[3] = 1
		}
	}
}
symm.Recover()
early := "the kernel ends before the bytes of all ranks have arrived: my signal grows by one for each other rank, and the value before must be read before the barrier"
switch found = symm.AllReduce(verdict.CopyFrom(found), "max").Ints(); {
case found[0] > 0:
	panic("a wait gave up: my signal grows by one for each other rank that puts to me with a signal, and all ranks must reach each barrier")
case found[1] > 0:
	panic("a rank's bytes are in places of others: both offsets are rank * bytes, those of the rank that puts")
case found[2] > 0:
	panic("a place was not written, or not yet: every rank puts to every other rank; " + early)
case found[3] > 0:
	panic("a place does not have what its rank put in this launch: " + early)
}

// On the emulated device the sanitizer grades your code. Its result does not depend on which rank comes first.
symm.Sanitize(true, 0)
symm.Findings() // those of before
for number := range 3 {
	round(number, 20*time.Second)
	symm.Synchronize()
}
findings := symm.Findings()
symm.Sanitize(false, 0)
found[0] = len(findings)
if symm.AllReduce(verdict.CopyFrom(found), "max").Ints()[0] > 0 {
	said := "the places are right by luck. " + early
	for _, f := range findings {
		said += "\n- " + f.String()
	}
	panic(said)
}
rail := symm.Rail() // a team of fewer ranks, on which it must be right, too
members := rail.Size()
symm.Sanitize(true, 0)
y.Fill(-1)
y.Slice(4*rail.Rank(), 4*rail.Rank()+4).Fill(rail.Rank())
railWindow, railComm := symm.Window(y, rail), symm.DevComm(symm.DevReqs{WorldGinBarriers: 1, GinSignals: 1}, rail)
symm.Meet()
found[0] = 0
if symm.Maybe(func() {
	allGather.Launch(symm.Grid(1), symm.Block(32), railComm, railWindow, 16, symm.Timeout(time.Second))
	symm.Synchronize()
}) != nil || symm.Reduce("all(x0 == i/4)", y.Slice(0, 4*members)).Item() != 1 { // i is the number of the element
	found[0] = 1
}
symm.Recover()
symm.Findings() // the message below is enough
symm.Sanitize(false, 0)
if symm.AllReduce(verdict.CopyFrom(found), "max").Ints()[0] > 0 {
	panic(fmt.Sprintf("it is right on %d ranks, but not on a team of %d: world.nRanks is the number of ranks", size, members))
}
fmt.Println("correct")

// %% [markdown]
// ## What you know now
//
// - A kernel needs only a window and a device communicator from the host; barriers and signals are
//   requested in advance.
// - Pointers reach ranks on the same host, puts reach every rank, and a hybrid kernel uses both.
// - Read the signal before the barrier; wait for its old value plus the number of signals that will
//   come.
//
// Read on: `:tutorial 15` overlaps a mixture-of-experts layer. The header itself is
// `kernels/include/nccl_device.h`; `docs/hosts.md` says which operations cross hosts.
