package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/internal/pace"
	"github.com/symmrepl/symmrepl/session"
)

// waitingKernels are kernels that wait in functions of symm.cuh, and some that only seem to.
const waitingKernels = "k := symm.Compile(`" + `#include "symm.cuh"
extern "C" __global__ void sig(symm::Handle h, int from, int channel) { symm::wait_signal(h, from, channel); }
extern "C" __global__ void put(symm::Handle h, int to, int n) { for (int i = 0; i < n; i++) if (!symm::put_signal(h, to, 0)) return; }
extern "C" __global__ void word(symm::Handle h, int peer) {
  if (blockIdx.x == 0 && threadIdx.x == 3)
    symm::wait_until<unsigned>(h, h.pad(h.rank) + 7, 1u, symm::kEqual, symm::kUser, peer, 3);
  __syncthreads();
}
__device__ void compute(unsigned long long ms) { for (symm::u64 end = symm::now_ns() + ms * 1000000; symm::now_ns() < end;); }
extern "C" __global__ void late(symm::Handle h, int to, unsigned long long ms) { compute(ms); symm::put_signal(h, to, 3); }
extern "C" __global__ void block(symm::Handle h, unsigned long long ms) {
  unsigned* w = h.pad(h.rank) + 9;
  if (blockIdx.x == 0) symm::wait_until<unsigned>(h, w, 1u, symm::kEqual, symm::kUser, 0, 9);
  else compute(ms), symm::store_release(w, 1u);
}
extern "C" __global__ void flag(symm::Handle h, volatile int* own) {
  unsigned* w = h.pad(h.rank) + 11;
  if (threadIdx.x == 0) { while (*own == 0); symm::store_release(w, 1u); }
  else symm::wait_until<unsigned>(h, w, 1u, symm::kEqual, symm::kUser, 0, 11);
}
extern "C" __global__ void set(volatile int* own, unsigned long long ms) { compute(ms); *own = 1; }
extern "C" __global__ void counts(symm::Handle h, int to, int polls) {
  unsigned* w = h.pad(h.rank) + 13;
  if (threadIdx.x == 0) {
    for (int i = 0; i < polls && symm::load_acquire(w + 1) == 0; i++);
    symm::store_release(w, 1u);
    symm::put_signal(h, to, 3);
  } else symm::wait_until<unsigned>(h, w, 1u, symm::kEqual, symm::kUser, 0, 13);
}
` + "`)\n" + `rank, n := symm.Rank(), symm.WorldSize(); left, right := (rank+n-1)%n, (rank+1)%n
t := symm.Empty(symm.F32, 64).Fill(1); h := symm.Rendezvous(t); s := symm.NewStream(); own := symm.Local(symm.I32, 1).Fill(0)
one, warp := symm.Grid(1), symm.Block(32)
`

// A wait in a kernel of the user's that cannot end is ended as one of an operation is, if all threads of
// the kernel wait. first is the error of the first rank.
var kernelDeadlocks = []struct{ name, cell, first, hint string }{
	{"signal that nobody puts", `if rank == 0 { k.Kernel("sig").Launch(one, warp, h, 1, 3) }; symm.Meet()`,
		`\[0\] sig: rank 0 waited TIME for a signal of rank 1 on channel 3, which never came: rank 1 waits in Meet at CELL`,
		"rank 1 must put it"},
	{"words", `k.Kernel("word").Launch(symm.Grid(3), warp, h, right)`,
		`\[0\] word: rank 0 waited TIME for a word of rank 1 to become 1; it is 0: rank 1 waits in word at CELL`, ""},
	{"the other ranks are done", `if rank == 0 { k.Kernel("sig").Launch(one, symm.Block(1), h, 1, 3) }`,
		`\[0\] sig: rank 0 waited TIME for a signal of rank 1 on channel 3, which never came: rank 1 has finished the cell`,
		"rank 1 must put it"},
	{"puts that nobody awaits", `k.Kernel("put").Launch(one, symm.Block(1), h, right, 3)`,
		`\[0\] put: rank 0 waited TIME for rank 1 to consume the previous signal on channel 0: rank 1 waits in put at CELL`,
		"rank 1 must wait for each signal it is sent"},
	{"kernel and operation", `if rank == 0 { k.Kernel("sig").Launch(one, warp, h, 1, 3); symm.Synchronize() }; symm.OneShotAllReduce(t, "sum")`,
		`\[0\] sig: rank 0 waited TIME for a signal of rank 1 on channel 3, which never came: rank 1 waits in one_shot_all_reduce f32\[64\] sum at CELL`,
		"rank 1 must put it"},
	{"on a second stream", `if rank == 0 { k.Kernel("sig").Launch(one, warp, h, 1, 3, s) }`,
		`\[0\] sig: rank 0 waited TIME for a signal of rank 1 on channel 3, which never came: rank 1 has finished the cell`,
		"rank 1 must put it"},
	{"in a graph", `g := symm.Capture(func() { k.Kernel("sig").Launch(one, warp, h, left, 4) }); g.Replay(); symm.Synchronize()`,
		`\[0\] sig: rank 0 waited TIME for a signal of rank LAST on channel 4, which never came: rank LAST waits in sig at CELL; captured in a graph, last replayed at CELL`,
		"rank LAST must put it"},
	{"more launches than a queue takes", `if rank == 0 { for range 1500 { k.Kernel("sig").Launch(one, warp, h, 1, 3) } }`,
		`\[0\] sig: refused, since a wait before it could not end: rank 1 has finished the cell`, ""},
}

// kernelWaits are cells with waits in kernels that something may still end.
var kernelWaits = []struct{ name, cell string }{
	{"a peer sleeps", `if rank == 0 { k.Kernel("sig").Launch(one, symm.Block(1), h, 1, 3) } else if rank == 1 { time.Sleep(LATE); h.PutSignal(0, 3) }`},
	{"a peer computes", `if rank == 0 { k.Kernel("sig").Launch(one, symm.Block(1), h, 1, 3) } else if rank == 1 {
		for begun := time.Now(); time.Since(begun) < LATE; {}; h.PutSignal(0, 3) }`},
	{"a peer's kernel computes", `if rank == 0 { k.Kernel("sig").Launch(one, symm.Block(1), h, 1, 3) } else if rank == 1 { k.Kernel("late").Launch(one, symm.Block(1), h, 0, 3500) }`},
	{"a block computes", `k.Kernel("block").Launch(symm.Grid(2), symm.Block(1), h, 3500)`},
	{"a thread polls its own flag", `k.Kernel("flag").Launch(one, warp, h, own); k.Kernel("set").Launch(one, symm.Block(1), own, 3500, s)`},
	{"a peer counts its polls", `if rank == 0 { k.Kernel("sig").Launch(one, symm.Block(1), h, 1, 3) } else if rank == 1 { k.Kernel("counts").Launch(one, symm.Block(2), h, 0, 1000) }`},
	{"a goroutine", `if rank == 1 { go func() { time.Sleep(LATE); symm.OnStream(s, func() { h.PutSignal(0, 3) }) }() } else if rank == 0 { k.Kernel("sig").Launch(one, symm.Block(1), h, 1, 3) }`},
	// the last case: signals may be out of step afterwards
	{"a limit", `symm.Maybe(func() { if rank == 0 { k.Kernel("sig").Launch(one, warp, h, 1, 3, symm.Timeout(LATE)); symm.Synchronize() } })`},
}

func TestKernelDeadlocks(t *testing.T) {
	if device() != "cpu" {
		t.Skip("on a GPU nothing tells whether all threads of a kernel wait")
	}
	watchedHome(t)
	for _, c := range []struct {
		ranks   int
		watched bool
		goOn    bool // also the waits that end
	}{{2, false, false}, {2, true, true}, {4, false, true}, {4, true, false}} {
		t.Run(fmt.Sprintf("%d ranks, sanitize %v", c.ranks, c.watched), func(t *testing.T) {
			t.Parallel() // each wait takes seconds
			s := launchHere(t, c.ranks)
			eval := func(source string) session.Reply { return evalPatiently(t, s, session.Cell{Source: source}) }
			reply := evalPatiently(t, s, session.Cell{Source: waitingKernels, Sanitize: &session.Sanitizing{On: c.watched}})
			if len(reply.Errors) > 0 {
				t.Fatal(reply.Errors)
			}
			last := fmt.Sprint(c.ranks - 1)
			for _, d := range kernelDeadlocks {
				began := time.Now()
				reply := eval(d.cell)
				took := time.Since(began)
				if len(reply.Errors) == 0 {
					t.Fatalf("%s: no error after %v", d.name, took)
				}
				for _, e := range reply.Errors {
					if e.Kind != session.KindDeadlock {
						t.Errorf("%s: %+v", d.name, e)
					}
				}
				e := reply.Errors[0]
				want := strings.NewReplacer("TIME", `[1-4](\.\d+)?s`, "CELL", `cell\[\d+\]:1( \(last replayed at cell\[\d+\]:1\))?`, "LAST", last).Replace(d.first)
				if got := fmt.Sprintf("[%s] %s", session.FormatRanks(e.Ranks), e.Msg); !regexp.MustCompile("^"+want+"$").MatchString(got) ||
					e.Hint != strings.ReplaceAll(d.hint, "LAST", last) {
					t.Errorf("%s: %q, hint %q\nwant %q", d.name, got, e.Hint, want)
				}
				if took > pace.Unhurried(4*time.Second) {
					t.Errorf("%s took %v", d.name, took)
				}
				if reply := eval(`symm.AllReduce(t.Fill(1), "sum").Float32s()[7]`); len(reply.Errors) > 0 || len(reply.Values) != 1 ||
					reply.Values[0].Text != fmt.Sprint(c.ranks) {
					t.Fatalf("after %s: %+v", d.name, reply)
				}
			}
			if !c.goOn {
				return
			}
			for _, w := range kernelWaits {
				began := time.Now()
				reply := eval("{\n" + strings.ReplaceAll(w.cell, "LATE", "3500*time.Millisecond") + "\nsymm.Synchronize()\n}")
				took := time.Since(began)
				if len(reply.Errors) > 0 {
					t.Fatalf("%s: %v after %v", w.name, reply.Errors, took)
				}
				if took < 2800*time.Millisecond && !strings.Contains(w.name, "counts its polls") {
					t.Errorf("%s took %v only", w.name, took)
				}
				t.Log(w.name, took)
			}
		})
	}
}
