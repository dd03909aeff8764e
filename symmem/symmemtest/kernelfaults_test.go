package symmemtest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/symmem"
)

// kernelLosses are the calls of a rank's kernel during which a rank on another host is killed, with
// the text of the wait that the kernel reports.
var kernelLosses = []struct{ name, body, words string }{
	{"Signal", "symm::wait_for_signal(h, 1, 1, true);", "for signal word 1 to become 1; it is 0, but "},
	{"Channel", "symm::wait_signal(h, last, 3);", "for a signal of rank 3 on channel 3, which never came, but "},
	{"Consumed", "symm::put_signal(h, last, 3) && symm::put_signal(h, last, 3);",
		"for rank 3 to consume the previous signal on channel 3, but "},
	{"Flush", "while (symm::put<symm::Thread>(h, last, 0, src, 4 << 20) && symm::flush<symm::Thread>(h));", ""},
	{"Posting", "for (int i = 0; i < 5000; i++) if (!symm::get<symm::Thread>(h, last, 0, src, 1 << 20)) return; symm::flush<symm::Thread>(h);", ""},
	{"Endless", "while (symm::put_value(h, last, 0, 1));", ""},
	{"Counter", "for (int i = 1; symm::get<symm::Thread>(h, last, 0, src, 4 << 20, symm::Counter{2}) && symm::wait_counter(h, symm::Counter{2}, i); i++);", ""},
	{"Barrier", "symm::barrier(h, 0);", ""},
}

// kernelLossCases returns a case for each of kernelLosses.
func kernelLossCases() (list []testCase) {
	for _, l := range kernelLosses {
		list = append(list, testCase{name: "LossInKernel" + l.name,
			run: func(t *T) { t.kernelLoss(l.body, l.words+"rank 3 on host 1 is gone: ") }})
	}
	return list
}

// kernelLoss: the kernel of rank 0, which depends on the killed rank, ends and names that rank.
// Ranks 1 and 2 go on with each other.
func (t *T) kernelLoss(body, words string) {
	pair := symmem.NewGroup(1, 2)
	module := symmem.Compile(fmt.Sprintf(`
		extern "C" __global__ void hit(symm::Handle h, unsigned char* src, int last) { %s }
		extern "C" __global__ void greet(symm::Handle h, int round, int* ok) {
			if (!symm::put_value(h, 1 - h.rank, 0, 10 * round + h.rank, symm::signal_add(0, 1)) || !symm::wait_for_signal(h, 0, round, true)) return;
			*ok += symm::barrier(h, 1) && h.buffer<int>(h.rank)[0] == 10 * round + 1 - h.rank;
			symm::barrier(h, 1);
		}`, body))
	ok, src := symmem.Local(symmem.I32, 1), symmem.Local(symmem.U8, 4<<20)
	var near *symmem.Handle
	if pair.Rank() >= 0 {
		near = symmem.Rendezvous(pair.Empty(symmem.I32, 1), pair)
	}
	h, last, _ := t.bereave()
	if t.rank == 0 {
		module.Launch(symmem.Grid(1), symmem.Block(1), h, src, last)
		e := t.refused(symmem.KindPeer, symmem.Synchronize, "hit on rank 0: ", words, "Recover")
		t.equal("op and peer", []any{e.Op, e.Peer}, []any{"hit", last})
		return
	}
	const rounds = 50 // the loss comes during these rounds
	for round := 1; round <= rounds; round++ {
		module.Kernel("greet").Launch(symmem.Grid(1), symmem.Block(1), near, round, ok, symmem.Timeout(20*time.Second))
		t.equal("greetings", ok.Ints(), []int{round})
		time.Sleep(10 * time.Millisecond)
	}
}

// networkKernelAbortCase ends kernels that post faster than the network works and so wait for room
// in the ring, and a kernel that only posts.
func networkKernelAbortCase(t *T) {
	const blocks, threads, times = 2, 32, 10
	watched, limit := os.Getenv(sanitizeVariable) != "", 20*time.Second
	if watched {
		limit *= watchedSlower
	}
	all := uint64(blocks * threads * times) // posts of a launch, more than the ring has slots
	x := symmem.Empty(symmem.U8, 1<<20).Fill(t.rank)
	h := symmem.Rendezvous(x)
	far := (t.rank + t.size/2) % t.size
	module := symmem.Compile(`
		extern "C" __global__ void post_puts(symm::Handle h, unsigned char* src, int dst) { while (symm::put<symm::Thread>(h, dst, 0, src, 1 << 20)); }
		extern "C" __global__ void post_gets(symm::Handle h, unsigned char* src, int dst) { while (symm::get<symm::Thread>(h, dst, 0, src, 1)); }
		extern "C" __global__ void post_slowly(symm::Handle h, unsigned char* src, int dst) { // the ring is never full
			if (threadIdx.x + blockIdx.x > 0) return;
			for (int i = 0; symm::put_value(h, dst, i, (unsigned char)1); i = (i + 1) % (1 << 20))
				for (symm::u64 end = symm::now_ns() + 50000; symm::now_ns() < end;);
		}
		extern "C" __global__ void after(symm::Handle h, unsigned char* src, int dst, int times) {
			const int me = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
			for (int i = 0; i < times; i++)
				if (!symm::put_value(h, dst, i * all + me, (unsigned char)(me + h.rank), symm::signal_add(0, 1))) return;
			if (me == 0) symm::wait_for_signal(h, 0, (symm::u64)all * times, true);
			symm::flush<symm::Thread>(h);
		}`)
	names := []string{"post_puts", "post_slowly"}
	if strings.HasPrefix(t.rt.Network().Name, "the null network") {
		names = append(names, "post_gets")
	}
	for i, name := range names {
		src := symmem.Local(symmem.U8, 1<<20).Fill(77)
		h.Barrier(0)
		symmem.Synchronize()
		if name == "post_gets" { // no get is answered, so the ring stays full
			t.tune("delay 1h")
		}
		module.Kernel(name).Launch(symmem.Grid(blocks), symmem.Block(threads), h, src, far)
		if name == "post_gets" {
			w := t.awaitWait()
			t.equal("wait", []any{w.Op, w.Peers}, []any{name, []int{far}})
			var least, over int
			if _, err := fmt.Sscanf(w.For, "the network to be done with %d operations of this rank; %d are over", &least,
				&over); err != nil || least != over+1 {
				t.Errorf("it waits for %q: %v", w.For, err)
			}
		} else {
			time.Sleep(100 * time.Millisecond)
		}
		t.rt.Abort("the test wants it")
		// the cpu device may stop it anywhere; watched kernels end slowly
		if name == "post_slowly" || name == "post_puts" && watched {
			t.refused(symmem.KindInterrupted, symmem.Synchronize, name)
		} else {
			e := t.refused(symmem.KindInterrupted, symmem.Synchronize, name+" on rank",
				fmt.Sprintf("for the network to take an operation with rank %d, and gave up: the test wants it", far))
			t.equal("peer", e.Peer, far)
		}
		if name == "post_gets" {
			t.tune("off")
			if settings := strings.TrimPrefix(os.Getenv("SYMMREPL_NET"), "null"); settings != "" {
				t.tune(settings)
			}
		}
		symmem.Recover()
		for _, f := range t.rt.Findings() { // all puts of post_puts go to one place
			if slices.ContainsFunc(f.Accesses, func(a symmem.Access) bool { return a.Kernel != "post_puts" }) {
				t.Errorf("the sanitizer found %v", f)
			}
		}
		x.Fill(0)
		h.Barrier(0)
		for round := 1; round <= 3; round++ {
			module.Kernel("after").Launch(symmem.Grid(blocks), symmem.Block(threads), h, src, far, times, symmem.Timeout(limit))
			symmem.Synchronize()
			want := make([]int, blocks*threads*times+1)
			for k := range blocks * threads * times {
				want[k] = (k%(blocks*threads) + far) % 256
			}
			t.equal(fmt.Sprint("after ", i, " ", round), x.Slice(0, len(want)).Ints(), want)
			t.equal("signals", h.GetSignal(0), all)
			h.Barrier(0)
			h.SignalAdd(t.rank, 0, -all)
			h.Barrier(0)
		}
	}
	symmem.Synchronize()
	x.Free()
}

// tune changes how the null network treats this rank's messages.
func (t *T) tune(settings string) {
	if err := t.rt.TuneNetwork(settings); err != nil {
		t.Fatalf("%v", err)
	}
}

// awaitWait returns this rank's wait once it is listed. There must be exactly one.
func (t *T) awaitWait() symmem.Wait {
	var waits []symmem.Wait
	for end := time.Now().Add(20 * time.Second); len(waits) == 0 && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
		waits = t.rt.Waits()
	}
	waits = slices.CompactFunc(waits, func(a, b symmem.Wait) bool { return a.Op == b.Op && slices.Equal(a.Peers, b.Peers) })
	if len(waits) != 1 {
		t.Fatalf("waits: %+v", waits)
	}
	return waits[0]
}
