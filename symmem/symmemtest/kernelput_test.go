package symmemtest

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/internal/pace"
	"github.com/symmrepl/symmrepl/symmem"
)

// remoteCases test puts and gets of kernels between members inside one host and on different hosts.
var remoteCases = []testCase{
	{name: "KernelPut", run: kernelPutCase, min: 1, many: true},
	{name: "KernelGet", run: kernelGetCase, min: 1, many: true},
	{name: "KernelValue", run: kernelValueCase, min: 1, many: true},
	{name: "KernelSignal", run: kernelSignalCase, min: 2},
	{name: "KernelSourceIsFree", run: kernelSourceIsFreeCase, min: 2},
	{name: "KernelMany", run: kernelManyCase, min: 1},
	{name: "KernelCounters", run: kernelCountersCase, min: 1},
	{name: "KernelHalves", run: kernelHalvesCase, min: 1, many: true},
	{name: "KernelChannels", run: kernelChannelsCase, min: 1, many: true},
	{name: "KernelGraph", run: kernelGraphCase, min: 1},
	{name: "KernelRefused", run: kernelRefusedCase, min: 1},
	{name: "KernelWaits", run: kernelWaitsCase, min: 2},
	{name: "KernelPolls", run: kernelPollsCase, min: 2},
}

// putKernels put n words to every member's place for this rank and wait for the words of all
// members, by blocks, warps or threads. Signals count rounds.
const putKernels = `
__device__ void await(const symm::Handle& h, int round) {
	for (int p = threadIdx.x; p < h.world_size; p += blockDim.x) symm::wait_for_signal(h, p, round, false);
}
extern "C" __global__ void by_block(symm::Handle h, int* src, int n, int room, int round) {
	for (int p = 0; p < h.world_size; p++)
		if (!symm::put(h, p, 4ull * room * h.rank, src, 4ull * n, symm::signal_set(h.rank, round))) return;
	await(h, round);
	symm::flush(h);
}
extern "C" __global__ void by_warp(symm::Handle h, int* src, int n, int room, int round) {
	for (int p = threadIdx.x / 32; p < h.world_size; p += blockDim.x / 32)
		if (!symm::put<symm::Warp>(h, p, 4ull * room * h.rank, src, 4ull * n, symm::signal_add(h.rank, 1))) return;
	await(h, round);
	symm::flush<symm::Warp>(h);
}
extern "C" __global__ void by_thread(symm::Handle h, int* src, int n, int room, int round) {
	for (int p = threadIdx.x; p < h.world_size; p += blockDim.x)
		if (!symm::put<symm::Thread>(h, p, 4ull * room * h.rank, src, 4ull * n, symm::weak(symm::signal_set(h.rank, round)))) return;
	await(h, round);
	symm::flush<symm::Thread>(h);
}
extern "C" __global__ void with_signal(symm::Handle h, int* src, int n, int room, int round) {
	for (int p = 0; p < h.world_size; p++) symm::put_with_signal(h, p, 4ull * room * h.rank, src, 4ull * n, h.rank, round);
	await(h, round);
	symm::flush(h);
}`

func kernelPutCase(t *T) {
	const room = 5003
	x := symmem.Empty(symmem.I32, t.size*room+1)
	part := x.Slice(1, t.size*room+1) // does not begin at the start of its window
	h, all := symmem.Rendezvous(part), symmem.Rendezvous(x)
	src := symmem.Local(symmem.I32, room)
	module := symmem.Compile(putKernels)
	round := 0
	for _, n := range []int{0, 1, 333, room} {
		for _, name := range []string{"by_block", "by_warp", "by_thread", "with_signal"} {
			round++
			src.Fill(100*round + t.rank)
			module.Kernel(name).Launch(symmem.Grid(1), symmem.Block(128), h, src, n, room, round, symmem.Timeout(20*time.Second))
			got := part.Ints()
			for p := range t.size {
				t.equal(fmt.Sprint(name, " of ", n, " from ", p), slices.Compact(got[p*room:p*room+n]),
					slices.Repeat([]int{100*round + p}, min(n, 1)))
			}
			all.Barrier(0)
		}
	}
	t.equal("before it", x.Slice(0, 1).Ints(), []int{0})
	x.Free()
}

func kernelGetCase(t *T) {
	const n = 3001
	module := symmem.Compile(`
		extern "C" __global__ void by_block(symm::Handle h, int* dst, int n, int round) {
			for (int p = 0; p < h.world_size; p++)
				if (!symm::get(h, p, 4, dst + p * n, 4ull * n)) return;
			symm::flush(h);
			if (threadIdx.x < h.world_size) dst[threadIdx.x * n] += 1; // it is here
		}
		extern "C" __global__ void by_warp(symm::Handle h, int* dst, int n, int round) {
			const symm::Counter c{threadIdx.x / 32};
			const symm::u64 before = symm::read_counter(h, c);
			__syncwarp();
			for (int p = threadIdx.x / 32, times = 0; p < h.world_size; p += blockDim.x / 32) {
				if (!symm::get<symm::Warp>(h, p, 4, dst + p * n, 4ull * n, c)) return;
				if (threadIdx.x % 32 == 0 && symm::wait_counter(h, c, before + ++times)) dst[p * n] += 1;
			}
		}
		extern "C" __global__ void by_thread(symm::Handle h, int* dst, int n, int round) {
			if (threadIdx.x >= h.world_size) return;
			const int p = threadIdx.x;
			if (!symm::get<symm::Thread>(h, p, 4, dst + p * n, 4ull * n) || !symm::flush<symm::Thread>(h)) return;
			dst[p * n] += 1;
		}
		extern "C" __global__ void unflushed(symm::Handle h, int* dst, int n, int round) {
			for (int p = 0; p < h.world_size; p++) symm::get(h, p, 4, dst + p * n, 4ull * n);
		}`)
	x := symmem.Empty(symmem.I32, n+1)
	h := symmem.Rendezvous(x)
	dst := symmem.Local(symmem.I32, t.size*n)
	for i, name := range []string{"by_block", "by_warp", "by_thread", "unflushed"} {
		x.Fill(100*i + t.rank)
		dst.Fill(-1)
		h.Barrier(0)
		module.Kernel(name).Launch(symmem.Grid(1), symmem.Block(96), h, dst, n, i, symmem.Timeout(20*time.Second))
		got := dst.Ints()
		for p := range t.size {
			want := []int{100*i + p + 1, 100*i + p}
			if name == "unflushed" {
				want = want[1:]
			}
			t.equal(fmt.Sprint(name, " from ", p), slices.Compact(got[p*n:(p+1)*n]), want)
		}
		h.Barrier(0)
	}
	x.Free()
}

func kernelValueCase(t *T) {
	put := symmem.Compile(`
		struct Three { unsigned char c[3]; };
		extern "C" __global__ void values(symm::Handle h, int round) {
			const int p = threadIdx.x;
			if (p >= h.world_size) return;
			const symm::u64 at = 64ull * h.rank;
			symm::put_value(h, p, at, (unsigned char)(h.rank + round));
			symm::put_value(h, p, at + 1, Three{{1, 2, (unsigned char)round}});
			symm::put_value(h, p, at + 4, h.rank - round);
			symm::put_value(h, p, at + 8, (double)h.rank);
			symm::put_value(h, p, at + 16, (unsigned short)(1000 * round));
			symm::put_value(h, p, at + 19, 0x0102030405060708ull * round, symm::signal_add(3, 1)); // at an odd place
			symm::wait_for_signal(h, 3, (symm::u64)h.world_size * round, true);
		}`)
	x := symmem.Empty(symmem.U8, 64*t.size)
	h := symmem.Rendezvous(x)
	for round := 1; round <= 3; round++ {
		put.Launch(symmem.Grid(1), symmem.Block(32), h, round, symmem.Timeout(20*time.Second))
		got := x.Ints()
		for p := range t.size {
			want := []int{p + round, 1, 2, round}
			for k := range 4 {
				want = append(want, (p-round)>>(8*k)&255)
			}
			part := got[64*p:]
			t.equal("first", part[:8], want)
			t.equal("short", part[16]+part[17]<<8, 1000*round)
			var long []int
			for k := range 8 {
				long = append(long, int(0x0102030405060708*uint64(round)>>(8*k)&255))
			}
			t.equal("long", part[19:27], long)
			t.equal("behind it", part[27], 0)
		}
		h.Barrier(0)
	}
	x.Free()
}

// kernelSignals count at the receiver the words that have not arrived when it sees the signal.
const kernelSignals = `
__device__ int missing(const int* x, int n, int round) {
	int count = 0;
	for (int i = 0; i < n; i++) count += x[i] != round;
	return count;
}
// Each put is a put of one message, and the signal comes alone.
extern "C" __global__ void alone(symm::Handle h, int* src, int n, int puts, int round, int is_weak, int* early) {
	const int right = (h.rank + 1) % h.world_size, left = (h.rank + h.world_size - 1) % h.world_size;
	for (int i = 0; i < puts; i++) symm::put<symm::Thread>(h, right, 4ull * i * n, src, 4ull * n);
	const symm::SignalOp s = symm::signal_set(0, round);
	symm::signal(h, right, is_weak ? symm::weak(s) : s);
	if (!symm::wait_for_signal(h, 0, round, false)) return;
	*early += missing(h.buffer<int>(h.rank), puts * n, round) > 0;
	// The round is over when all is there, and left knows it.
	symm::put_signal(h, right, 5);
	symm::wait_signal(h, left, 5);
	*early += 1000 * (missing(h.buffer<int>(h.rank), puts * n, round) > 0);
	symm::flush<symm::Thread>(h);
	symm::put_signal(h, left, 5);
	symm::wait_signal(h, right, 5);
}
// A weak signal comes with its own data.
extern "C" __global__ void own(symm::Handle h, int* src, int n, int puts, int round, int is_weak, int* early) {
	const int right = (h.rank + 1) % h.world_size, left = (h.rank + h.world_size - 1) % h.world_size;
	for (int i = 0; i < puts; i++)
		symm::put<symm::Thread>(h, right, 4ull * i * n, src, 4ull * n, symm::weak(symm::signal_set(1 + i, round)));
	for (int i = puts - 1; i >= 0; i--) {
		if (!symm::wait_for_signal(h, 1 + i, round, false)) return;
		*early += missing(h.buffer<int>(h.rank) + i * n, n, round) > 0;
	}
	symm::flush<symm::Thread>(h);
	symm::put_signal(h, left, 5);
	symm::wait_signal(h, right, 5);
}`

// signalsFrom runs rounds of a kernel of kernelSignals and returns the number of times that data
// was missing.
func (t *T) signalsFrom(module *symmem.Kernel, name string, x *symmem.Tensor, first, rounds, puts, n int, weak bool) int {
	h := symmem.Rendezvous(x)
	src, early := symmem.Local(symmem.I32, n), symmem.Local(symmem.I32, 1)
	is := 0
	if weak {
		is = 1
	}
	for round := first; round < first+rounds; round++ {
		src.Fill(round)
		module.Kernel(name).Launch(symmem.Grid(1), symmem.Block(1), h, src, n, puts, round, is, early, symmem.Timeout(40*time.Second))
	}
	return early.Ints()[0]
}

// kernelSignalCase: strong signals never come before earlier data, and weak signals never before
// their own data.
func kernelSignalCase(t *T) {
	const n, puts = 4000, 6
	x := symmem.Empty(symmem.I32, n*puts)
	h := symmem.Rendezvous(x)
	module := symmem.Compile(kernelSignals)
	t.equal("strong", t.signalsFrom(module, "alone", x, 1, 8, puts, n, false), 0)
	h.Barrier(0)
	t.equal("own", t.signalsFrom(module, "own", x, 9, 8, puts, n, true), 0)
	h.Barrier(0)
	x.Free()
}

// kernelSeedsCase is kernelSignalCase with messages that overtake each other in many ways. Weak
// signals behind a put then come before earlier data.
func kernelSeedsCase(t *T) {
	const n, puts = 2000, 3
	x := symmem.Empty(symmem.I32, n*puts)
	h := symmem.Rendezvous(x)
	module := symmem.Compile(kernelSignals)
	ways, err := strconv.Atoi(os.Getenv(seedsVariable))
	if err != nil {
		t.Fatalf("%v", err)
	}
	round, early := 1, 0
	for seed := 1; seed <= ways; seed++ {
		if err := t.rt.TuneNetwork(fmt.Sprintf("reorder on delay 1ms seed %d", seed)); err != nil {
			t.Fatalf("%v", err)
		}
		t.equal("strong", t.signalsFrom(module, "alone", x, round, 2, puts, n, false), 0)
		t.equal("own", t.signalsFrom(module, "own", x, round+2, 2, puts, n, true), 0)
		weak := t.signalsFrom(module, "alone", x, round+4, 4, puts, n, true)
		t.equal("in the end", weak/1000, 0)
		early += weak
		round += 8
	}
	if (t.rank+t.size-1)%t.size/(t.size/2) != t.rank/(t.size/2) && early == 0 {
		t.Errorf("of %d weak signals behind a put none was early", 4*ways)
	}
	if err := t.rt.TuneNetwork("off"); err != nil {
		t.Errorf("%v", err)
	}
	h.Barrier(0)
	x.Free()
}

// kernelSourceIsFreeCase: the source of a kernel's put may be overwritten after a flush and after
// the host has synchronised, and freed memory is not reused before that.
func kernelSourceIsFreeCase(t *T) {
	const n = 1 << 18
	x := symmem.Empty(symmem.I32, n)
	h := symmem.Rendezvous(x)
	right := (t.rank + 1) % t.size
	left := (t.rank + t.size - 1) % t.size
	module := symmem.Compile(`
		extern "C" __global__ void put(symm::Handle h, int* src, int n, int dst) { symm::put(h, dst, 0, src, 4ull * n, symm::signal_add(0, 1)); }
		extern "C" __global__ void put_and_spoil(symm::Handle h, int* src, int n, int dst) {
			symm::put(h, dst, 0, src, 4ull * n, symm::signal_add(0, 1));
			if (!symm::flush(h)) return;
			for (int i = threadIdx.x; i < n; i += blockDim.x) src[i] = -1;
		}`)
	stream := symmem.NewStream()
	for i := range 6 {
		src := symmem.Local(symmem.I32, n).Fill(10*i + t.rank)
		switch i % 3 {
		case 0:
			module.Kernel("put_and_spoil").Launch(symmem.Grid(1), symmem.Block(256), h, src, n, right)
		case 1:
			src.Ints()
			module.Kernel("put").Launch(symmem.Grid(1), symmem.Block(256), h, src, n, right, stream)
			stream.Synchronize()
			src.Fill(-1)
		case 2:
			module.Kernel("put").Launch(symmem.Grid(1), symmem.Block(256), h, src, n, right)
			src.Free()
			for range 3 {
				symmem.Local(symmem.I32, n).Fill(-1)
			}
		}
		h.WaitForSignal(0, "==", uint64(i+1), symmem.Timeout(20*time.Second))
		t.equal("received", slices.Compact(x.Ints()), []int{10*i + left})
		h.Barrier(0)
		symmem.Synchronize()
	}
	stream.Free()
	x.Free()
}

// kernelManyCase posts more operations from four blocks at once than the ring has slots.
func kernelManyCase(t *T) {
	const blocks, threads, times = 4, 64, 5
	x := symmem.Empty(symmem.I32, times*blocks*threads)
	h := symmem.Rendezvous(x)
	many := symmem.Compile(`extern "C" __global__ void many(symm::Handle h, int dst, int times) {
		const int me = blockIdx.x * blockDim.x + threadIdx.x;
		for (int i = 0; i < times; i++)
			if (!symm::put_value(h, dst, 4ull * (i * gridDim.x * blockDim.x + me), 1000 * me + h.rank, symm::signal_add(me % 3, 1))) return;
		if (me < 3) symm::wait_for_signal(h, me, gridDim.x * blockDim.x / 3 * times, true);
	}`)
	right, left := (t.rank+1)%t.size, (t.rank+t.size-1)%t.size
	many.Launch(symmem.Grid(blocks), symmem.Block(threads), h, right, times, symmem.Timeout(40*time.Second))
	h.Barrier(0)
	want := make([]int, times*blocks*threads)
	for i := range want {
		want[i] = 1000*(i%(blocks*threads)) + left
	}
	t.equal("values", x.Ints(), want)
	sum := uint64(0)
	for i := range 3 {
		sum += h.GetSignal(i)
	}
	t.equal("signals", sum, uint64(blocks*threads*times))
	h.Barrier(0)
	x.Free()
}

func kernelCountersCase(t *T) {
	put := 3000 * t.size // number of elements that are put; the elements behind them are fetched
	x := symmem.Empty(symmem.I32, put+1000)
	h := symmem.Rendezvous(x)
	x.Slice(put, put+1000).Fill(100 + t.rank)
	h.Barrier(0)
	src, out := symmem.Local(symmem.I32, 1000).Fill(t.rank), symmem.Local(symmem.I64, 4)
	count := symmem.Compile(`extern "C" __global__ void count(symm::Handle h, int* src, int* back, long long* out) {
		const symm::Counter puts{7}, gets{63};
		for (int i = 0; i < 3; i++)
			for (int p = 0; p < h.world_size; p++) symm::put(h, p, 4000ull * (3 * h.rank + i), src, 4000, {}, puts);
		if (threadIdx.x == 0) out[0] = symm::wait_counter(h, puts, 3ull * h.world_size);
		if (threadIdx.x == 0) out[1] = (long long)symm::read_counter(h, puts);
		for (int p = 0; p < h.world_size; p++) symm::get(h, p, 12000ull * h.world_size, back + 1000 * p, 4000, gets);
		if (threadIdx.x == 0) out[2] = symm::wait_counter(h, gets, h.world_size);
		if (threadIdx.x == 0) {
			symm::reset_counter(h, puts);
			symm::reset_counter(h, gets);
			out[3] = (long long)(symm::read_counter(h, puts) + symm::read_counter(h, gets));
		}
	}`)
	back := symmem.Local(symmem.I32, 1000*t.size)
	for range 2 {
		count.Launch(symmem.Grid(1), symmem.Block(128), h, src, back, out, symmem.Timeout(20*time.Second))
		t.equal("out", out.Ints(), []int{1, 3 * t.size, 1, 0})
		h.Barrier(0)
	}
	for p := range t.size {
		t.equal("put", slices.Compact(x.Slice(3000*p, 3000*p+3000).Ints()), []int{p})
		t.equal("fetched", slices.Compact(back.Slice(1000*p, 1000*p+1000).Ints()), []int{100 + p})
	}
	wait := symmem.Compile(`extern "C" __global__ void wait(symm::Handle h) { symm::wait_counter(h, symm::Counter{5}, 2); }`)
	wait.Launch(symmem.Grid(1), symmem.Block(1), h, symmem.Timeout(100*time.Millisecond))
	t.refused(symmem.KindTimeout, symmem.Synchronize, "wait on rank", "for counter 5 to become 2, by operations of this rank; it is 0")
	symmem.Recover()
	h.Barrier(0)
	x.Free()
}

// kernelChannelsCase meets by the channels of the group, in kernels of one and of several blocks.
func kernelChannelsCase(t *T) {
	x := symmem.Empty(symmem.I32, 4*t.size)
	h := symmem.Rendezvous(x)
	right, left := (t.rank+1)%t.size, (t.rank+t.size-1)%t.size
	module := symmem.Compile(`
		extern "C" __global__ void meet(symm::Handle h, int* ok, int rounds) {
			const symm::u64 at = 4ull * (blockIdx.x * h.world_size + h.rank);
			for (int i = 1; i <= rounds; i++) {
				if (threadIdx.x < h.world_size) symm::put_value(h, threadIdx.x, at, 100 * i + h.rank);
				if (!symm::barrier(h, blockIdx.x)) return;
				if (threadIdx.x < h.world_size && h.buffer<int>(h.rank)[blockIdx.x * h.world_size + threadIdx.x] != 100 * i + (int)threadIdx.x) atomicAdd(ok, 1000);
				if (!symm::barrier(h, blockIdx.x)) return;
			}
			if (threadIdx.x == 0) atomicAdd(ok, 1);
		}
		extern "C" __global__ void ring(symm::Handle h, int dst, int src, int* ok, int rounds) {
			for (int i = 1; i <= rounds; i++) {
				symm::put_value(h, dst, 0, 10 * i + h.rank);
				if (!symm::put_signal(h, dst, 6) || !symm::wait_signal(h, src, 6)) return;
				*ok += h.buffer<int>(h.rank)[0] == 10 * i + src;
				if (!symm::put_signal(h, src, 7) || !symm::wait_signal(h, dst, 7)) return;
			}
		}`)
	ok := symmem.Local(symmem.I32, 2)
	module.Launch(symmem.Grid(3), symmem.Block(32), h, ok, 5, symmem.Timeout(40*time.Second))
	h.Barrier(1)
	module.Kernel("ring").Launch(symmem.Grid(1), symmem.Block(1), h, right, left, ok.Slice(1, 2), 20, symmem.Timeout(40*time.Second))
	t.equal("ok", ok.Ints(), []int{3, 20})
	h.Barrier(1)
	x.Free()
}

// kernelGraphCase replays a kernel that puts, on two streams in turn.
func kernelGraphCase(t *T) {
	x := symmem.Empty(symmem.I32, 300)
	h := symmem.Rendezvous(x)
	y := symmem.Local(symmem.I32, 300).Fill(t.rank)
	right, left := (t.rank+1)%t.size, (t.rank+t.size-1)%t.size
	step := symmem.Compile(`extern "C" __global__ void step(symm::Handle h, int* y, int dst) {
		for (int i = threadIdx.x; i < 300; i += blockDim.x) y[i] += 10;
		symm::put(h, dst, 0, y, 1200, symm::signal_add(0, 1));
		if (threadIdx.x == 0) {
			const symm::u64 round = *h.word(h.rank, 1) + 1;
			symm::wait_for_signal(h, 0, round, true);
			*h.word(h.rank, 1) = round;
		}
		symm::flush(h);
	}`)
	g := symmem.Capture(func() { step.Launch(symmem.Grid(1), symmem.Block(64), h, y, right, symmem.Timeout(20*time.Second)) })
	other := symmem.NewStream()
	for i := 1; i <= 6; i++ {
		if i%2 == 0 {
			g.Replay(other)
			other.Synchronize()
		} else {
			g.Replay()
		}
		t.equal("x", slices.Compact(x.Ints()), []int{10*i + left})
		h.Barrier(0)
		symmem.Synchronize()
	}
	g.Free()
	other.Free()
	x.Free()
}

func kernelRefusedCase(t *T) {
	x := symmem.Empty(symmem.U8, 100).Fill(7)
	h := symmem.Rendezvous(x)
	h.Barrier(0)
	symmem.Synchronize()
	words := h.SignalPadSize() / 8
	last := t.size - 1
	for _, c := range []struct {
		call  string
		words string
	}{
		{"put(h, h.world_size, 0, x, 1)", fmt.Sprintf("symm::put: the member must be in [0, %d), not %d", t.size, t.size)},
		{"put(h, -1, 0, x, 1)", "not -1"},
		{fmt.Sprintf("put(h, %d, 90, x, 11)", last), fmt.Sprintf("symm::put: it leads to byte 101 of rank %d's copy, which has 100", last)},
		{fmt.Sprintf("put(h, %d, ~0ull, x, 2)", last), "symm::put: it leads to byte 18446744073709551615"},
		{fmt.Sprintf("get(h, %d, 101, x, 0)", last), "symm::get: it leads to byte 101"},
		{fmt.Sprintf("put_value(h, %d, 97, 1)", last), "symm::put_value: it leads to byte 101"},
		{fmt.Sprintf("put(h, %d, 0, x, 1, symm::signal_set(%d, 1))", last, words),
			fmt.Sprintf("symm::put: the signal must be in [0, %d), not %d", words, words)},
		{fmt.Sprintf("signal(h, %d, symm::signal_add(%d, 1))", last, words), "symm::signal: the signal must be in"},
		{fmt.Sprintf("wait_for_signal(h, %d, 0, true)", words), "symm::wait_for_signal: the signal must be in"},
		{fmt.Sprintf("put(h, %d, 0, x, 1, {}, symm::Counter{64})", last), "symm::put: its number must be in [0, 64), not 64"},
		{"wait_counter(h, symm::Counter{64}, 0)", "a counter: its number must be in [0, 64), not 64"},
		{fmt.Sprintf("put_signal(h, %d, h.channels)", last),
			fmt.Sprintf("symm::put_signal: the channel must be in [0, %d)", symmem.World().Channels())},
		{"wait_signal(h, h.world_size, 0)", "symm::wait_signal: the member must be in"},
		{"barrier(h, h.channels)", "symm::barrier: the channel must be in"},
	} {
		k := symmem.Compile(`extern "C" __global__ void wrong(symm::Handle h, unsigned char* x, int* ok) { ok[threadIdx.x] = symm::` + c.call + `; }`)
		ok := symmem.Local(symmem.I32, 32).Fill(7)
		k.Launch(symmem.Grid(1), symmem.Block(32), h, x, ok)
		t.refused(symmem.KindMisuse, symmem.Synchronize, "wrong on rank", c.words)
		t.equal(c.call, slices.Compact(ok.Ints()), []int{0})
	}
	t.equal("the data", slices.Compact(x.Ints()), []int{7})
	h.Barrier(0)
	symmem.Synchronize()
	x.Free()
}

// kernelPollsCase: two kernels that answer each other many times wait for each answer anew. The cpu
// device's threads sleep only after long polls, or where so many threads want to run that a yield
// takes long, so they must not sleep here.
func kernelPollsCase(t *T) {
	caps, times := symmem.Caps(), 4000
	watched := os.Getenv(sanitizeVariable) != ""
	if caps.Backend != "CPU" || len(caps.Hosts) > 1 || watched {
		times = 100 // on shared GPUs an answer takes milliseconds, and also with slow networks and the sanitizer
	}
	echo := symmem.Compile(`extern "C" __global__ void echo(symm::Handle h, int peer, int times, int* ok) {
		for (int i = 1; i <= times; i++) {
			if (h.rank != 0 && !symm::wait_for_signal(h, 0, i, true)) return;
			if (!symm::signal(h, peer, symm::signal_add(0, 1))) return;
			if (h.rank == 0 && !symm::wait_for_signal(h, 0, i, true)) return;
			*ok += 1;
		}
	}`)
	x := symmem.Empty(symmem.U8, 1)
	h := symmem.Rendezvous(x)
	last := t.size - 1
	ok := symmem.Local(symmem.I32, 1)
	h.Barrier(0)
	if t.rank == 0 || t.rank == last {
		echo.Launch(symmem.Grid(1), symmem.Block(1), h, last-t.rank, times, ok, symmem.Timeout(40*time.Second))
		slept := threadSleeps(t)
		symmem.Synchronize()
		slept = threadSleeps(t) - slept
		t.equal("answers", ok.Ints(), []int{times})
		quiet := pace.Unhurried(time.Second) < 2*time.Second
		if caps.Backend == "CPU" && len(caps.Hosts) == 1 && !watched && quiet && slept > times/2 {
			t.Errorf("threads slept %d times in %d waits", slept, times)
		}
	}
	h.Barrier(0)
	symmem.Synchronize()
	x.Free()
}

// threadSleeps returns the number of times that threads of this process have gone to sleep.
func threadSleeps(t *T) int {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatalf("%v", err)
	}
	return int(u.Nvcsw)
}

// kernelWaitsCase: the table of waits shows the word that a kernel waits for, and the state of the
// network to other hosts; an abort ends the wait.
func kernelWaitsCase(t *T) {
	x := symmem.Empty(symmem.I32, 4).Fill(t.rank)
	h := symmem.Rendezvous(x)
	h.Barrier(0)
	symmem.Synchronize()
	last := t.size - 1
	hosts := symmem.Caps().Hosts
	null := len(hosts) > 1 && strings.HasPrefix(t.rt.Network().Name, "the null network")
	send := symmem.Compile(`extern "C" __global__ void send(symm::Handle h) { symm::signal(h, 0, symm::signal_add(2, 1)); symm::flush<symm::Thread>(h); }`)
	wait := symmem.Compile(`extern "C" __global__ void wait(symm::Handle h) { symm::wait_for_signal(h, 2, 1, true); }`)
	if t.rank == last && null {
		if err := t.rt.TuneNetwork("drop 1"); err != nil {
			t.Fatalf("%v", err)
		}
		send.Launch(symmem.Grid(1), symmem.Block(1), h)
		symmem.Synchronize()
		if err := t.rt.TuneNetwork("drop 0"); err != nil {
			t.Fatalf("%v", err)
		}
	}
	if t.rank == 0 {
		wait.Launch(symmem.Grid(1), symmem.Block(1), h)
		var waits []symmem.Wait
		told := func() bool { // the wait is listed, with the dropped message, the last one of the last rank
			return len(waits) > 0 && (!null || strings.Contains(after(waits[0].For, fmt.Sprintf("network to rank %d: ", last)),
				"landed, not message"))
		}
		for end := time.Now().Add(20 * time.Second); !told() && time.Now().Before(end); {
			time.Sleep(20 * time.Millisecond)
			waits = t.rt.Waits()
		}
		if len(waits) != 1 {
			t.Fatalf("waits: %+v", waits)
		}
		t.equal("wait", []any{waits[0].Op, waits[0].Group, len(waits[0].Peers)}, []any{"wait", "world", 0})
		rest, ok := strings.CutPrefix(waits[0].For, "signal word 2 to become 1; it is 0")
		far := 0
		for r := range t.size {
			if len(hosts) > 1 && !slices.Contains(hosts[0], r) {
				far++
			}
		}
		if got := strings.Count(rest, "network to rank "); !ok || got != far || far > 0 && !strings.Contains(rest, "; from it: ") {
			t.Errorf("it waits for %q", waits[0].For)
		}
		if null {
			var posted, sent, landed, messages, missing int
			text := after(after(rest, fmt.Sprintf("network to rank %d: ", last)), "; from it: ")
			n, err := fmt.Sscanf(text, "%d posted, %d sent, %d of %d messages landed, not message %d", &posted, &sent, &landed,
				&messages, &missing)
			if n != 5 || posted == 0 || sent != posted || messages != landed+1 || missing != messages {
				t.Errorf("it waits for %q: %v", waits[0].For, err)
			}
		}
		time.AfterFunc(50*time.Millisecond, func() { t.rt.Abort("the test wants it") })
		t.refused(symmem.KindInterrupted, symmem.Synchronize, "wait on rank 0", "gave up: the test wants it")
	}
	symmem.Recover()
	t.equal("data", x.Ints(), slices.Repeat([]int{t.rank}, 4))
	h.Barrier(0)
	symmem.Synchronize()
	x.Free()
}

// after returns the text behind sep, "" if text does not contain sep.
func after(text, sep string) string {
	_, rest, _ := strings.Cut(text, sep)
	return rest
}

// seedsVariable passes a child the number of seeds for kernelSeedsCase.
const seedsVariable = "SYMMTEST_CHILD_SEEDS"

// TestKernelSeeds runs kernelSeedsCase between hosts.
func TestKernelSeeds(t *testing.T) {
	for _, device := range devices(t) {
		t.Run(device, func(t *testing.T) {
			needRanks(t, device, 4)
			t.Setenv(seedsVariable, strconv.Itoa(max(20, *seeds)))
			startOn(t, device, 4, "2", "null").run(t, "KernelSeeds")
		})
	}
}

// kernelHalvesCase splits barriers into their halves, on several channels at once and mixed with
// whole ones: what ranks put before arrive is there after arrived.
func kernelHalvesCase(t *T) {
	const n, rounds = 32, 5
	k := symmem.Compile(`extern "C" __global__ void halves(symm::Handle h, int* out, int rounds) {
		const symm::u32 channel = 3 + blockIdx.x;
		const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
		for (int r = 0; r < rounds; r++) {
			for (int p = 0; p < h.world_size; p++) symm::put_value(h, p, 4ull * (n * h.rank + i), 1000 * r + 10 * i + h.rank);
			symm::arrive(h, channel);
			int sum = 1;
			if (!symm::arrived(h, channel)) return;
			for (int p = 0; p < h.world_size; p++) sum += h.buffer<int>(h.rank)[n * p + i];
			out[r * n + i] = sum;
			if (r % 2) symm::barrier(h, channel);
			else {
				symm::arrive(h, channel);
				symm::arrived(h, channel);
			}
		}
	}
	extern "C" __global__ void beyond(symm::Handle h, int* out, int) {
		out[0] = symm::arrive(h, h.channels);
		if (!symm::arrived(h, h.channels)) return;
		out[1] = 1;
	}`)
	x := symmem.Empty(symmem.I32, t.size*n)
	h := symmem.Rendezvous(x)
	out := symmem.Local(symmem.I32, rounds, n)
	for range 2 {
		k.Launch(symmem.Grid(4), symmem.Block(n/4), h, out, rounds, symmem.Timeout(20*time.Second))
		t.equal("sums", out.Ints(), each(rounds*n, func(i int) int {
			return 1 + t.size*(1000*(i/n)+10*(i%n)) + t.size*(t.size-1)/2
		}))
	}
	k.Kernel("beyond").Launch(symmem.Grid(1), symmem.Block(1), h, out.View(-1).Fill(5), 0)
	t.refused(symmem.KindMisuse, symmem.Synchronize, "symm::barrier: the channel must be in")
	t.equal("refused", out.View(-1).Slice(0, 2).Ints(), []int{0, 5})
	h.Barrier(0)
	symmem.Synchronize()
	x.Free()
}
