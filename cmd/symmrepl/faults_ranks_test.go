package main

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/internal/pace"
)

// Every misuse is refused on all ranks. The error names the call and says what was wrong.
// Afterwards the session and its tensors are unchanged.
func TestMisuse(t *testing.T) {
	t.Parallel()
	preparation := []string{
		"t := symm.Empty(symm.F32, 8).Fill(symm.Rank())",
		"h := symm.Rendezvous(t)",
		"freed := symm.Empty(symm.F32, 8)",
		"freed.Free()",
		"k := symm.Compile(`__global__ void k(float* p, int n) { p[0] = n; }`)",
	}
	cases := []struct{ name, cell, want string }{
		{"dtype", `symm.OneShotAllReduce(symm.Empty(symm.F8E4M3, 8), "sum")`,
			"one_shot_all_reduce: f8e4m3 is a storage type, and OneShotAllReduce does not reduce it"},
		{"length", `t.CopyFrom([]float32{1, 2})`, "CopyFrom: 2 values for a tensor of 8 elements"},
		{"peer", `h.PutSignal(7, 0)`, "put_signal: dst must be in [0, 2), not 7"},
		{"channel", `h.PutSignal(1-symm.Rank(), 1<<20)`, "put_signal: channel 1048576 is above the maximum supported channel"},
		{"freed tensor", `freed.Fill(1)`, "Fill: the tensor f32[8] was freed"},
		{"no rendezvous", `u := symm.Empty(symm.F32, 8); symm.Capture(func() { symm.AllReduce(u, "sum") })`,
			"all_reduce: the tensor f32[8] was not rendezvoused"},
		{"shapes that differ", `symm.Empty(symm.F32, 4+symm.Rank())`, "rank 0: Empty f32[4]; rank 1: Empty f32[5]"},
		{"reductions that differ", `op := "sum"; if symm.Rank() == 1 { op = "max" }; symm.OneShotAllReduce(t, op)`,
			"rank 0: 1 call, the last of them one_shot_all_reduce f32[8] sum at cell[13]:1; rank 1: 1 call"},
		{"parts that differ", `symm.OneShotAllReduce(t.Slice(symm.Rank(), 4+symm.Rank()), "sum")`,
			"rank 0: 1 call, the last of them one_shot_all_reduce f32[4] sum at cell[14]:1; rank 1: 1 call"},
		{"reduction", `symm.OneShotAllReduce(t, "median")`, `not "median"`},
		{"kernel that does not compile", "symm.Compile(`__global__ void b(int* p) { p[0] = ; }`)", "expected "},
		{"too few arguments", `k.Launch(symm.Grid(1), symm.Block(32), t)`, "k(float* p, int n) takes 2 arguments, not 1"},
		{"float for int", `k.Launch(symm.Grid(1), symm.Block(32), t, 2.5)`, `argument 2, "int n", cannot be float64 2.5`},
		{"slice for pointer", `k.Launch(symm.Grid(1), symm.Block(32), []float32{1}, 2)`, `argument 1, "float* p", cannot be a []float32`},
		{"tensor of another dtype", `k.Launch(symm.Grid(1), symm.Block(32), symm.Local(symm.I32, 4), 2)`, "cannot be the tensor i32[4]"},
		{"grid of zero", `k.Launch(symm.Grid(0), symm.Block(32), t, 2)`, "dimension 1 of the grid must be in "},
		{"block too large", `k.Launch(symm.Grid(1), symm.Block(4096), t, 2)`, "dimension 1 of the block must be in [1, 1024], not 4096"},
		{"shared memory", `k.Launch(symm.Grid(1), symm.Block(32), symm.SharedBytes(1<<30), t, 2)`,
			"1073741824 bytes of shared memory are more than "},
	}
	x := newHome(t, 2).terminal("-n", "2", "--device", device())
	for _, cell := range preparation {
		x.enter(cell)
	}
	for _, test := range cases {
		x.enter(test.cell)
		x.expect("[0,1] ")
		x.expect(test.want)
	}
	x.enter(`symm.OneShotAllReduce(t, "sum").Float32s()[7] + 100`)
	x.expect("[0,1] 101\n")
}

// A rank is killed while all ranks reduce. The session names it at once and releases the others; a
// fresh worker joins, and the next collective works.
func TestKilledInAllReduce(t *testing.T) {
	h := newHome(t, 4)
	began := time.Now()
	x := h.terminal("-n", "4", "--device", device())
	pid := x.pid(2)
	start := time.Since(began) // time to start four workers; the session reports the kill after it has started one
	x.enter("t := symm.Empty(symm.I32, 1024).Fill(symm.Rank()); h := symm.Rendezvous(t); mine := 10 + symm.Rank()")
	x.enter(`for i := 0; ; i++ { symm.OneShotAllReduce(t, "sum").Free(); symm.Synchronize(); if i == 10 && symm.Rank() == 0 { fmt.Println("it", "runs") } }`)
	x.expect("[0] it runs\n")
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	x.expect("rank 2 was killed (SIGKILL)")
	if took := time.Since(killed); took > max(pace.Unhurried(time.Second), start) {
		t.Errorf("rank 2 was named after %v", took)
	}
	x.expect("one_shot_all_reduce: rank 0") // the other ranks waited as long
	x.expect(" waited ")
	if took, err := time.ParseDuration(x.word()); err != nil || took > pace.Unhurried(time.Second) {
		t.Errorf("rank 0 was released after %v (%v)", took, err)
	}
	x.enter(":on 0,1,3 mine + 100")
	for _, rank := range []int{0, 1, 3} {
		x.expect(fmt.Sprintf("[%d] %d\n", rank, 110+rank))
	}
	x.enter("u := symm.Empty(symm.I32, 4).Fill(symm.Rank() + 1); hu := symm.Rendezvous(u)")
	x.enter(`symm.OneShotAllReduce(u, "sum").Ints()[3] * 100`)
	x.expect("[0-3] 1000\n")
	x.expect("symm> ")
	x.send(ctrlD)
	x.expect("Ctrl-D again")
	x.send(ctrlD) // the second, because tensors are alive
	x.exit(0)
	h.expectNothingLeft()
}

// Whatever ends a worker, the session names the rank and the cause and replaces the worker. The
// next cell works.
func TestWorkerDeaths(t *testing.T) {
	t.Parallel()
	x := newHome(t, 2).terminal("-n", "2", "--device", device())
	x.enter(`import "os"`)
	x.enter("if symm.Rank() == 1 { os.Exit(7) }")
	x.expect("rank 1 exited with status 7")
	x.enter("symm.WorldSize() + 40")
	x.expect("[0,1] 42\n")
	for _, sig := range []syscall.Signal{syscall.SIGSEGV, syscall.SIGABRT, syscall.SIGKILL} {
		x.stuck(1, sig)
		x.expect(unix.SignalName(sig))
		x.enter("symm.WorldSize() + 50")
		x.expect("[0,1] 52\n")
	}
}

// A kernel that writes to an address without memory fails its cell. Afterwards tensors can be used
// again: at once, or after a fresh worker has taken over if the fault has cost the device.
func TestKernelFault(t *testing.T) {
	t.Parallel()
	r := newHome(t, 2).run("bad := symm.Compile(`__global__ void bad() { *(float*)8 = 1; }`)\n"+
		"if symm.Rank() == 1 { bad.Launch(symm.Grid(1), symm.Block(1)) }\n"+
		"1 + 1\n"+
		"t := symm.Empty(symm.I32, 4).Fill(21); h := symm.Rendezvous(t)\n"+
		"symm.OneShotAllReduce(t, \"sum\").Ints()[0]\n", "-n", "2", "--device", device())
	if r.status != 1 || !strings.HasSuffix(r.out, "[0,1] 42\n") || !strings.Contains(r.err, "[1] ") {
		t.Errorf("%+v", r)
	}
}

// A rank that is alone and has given up a wait goes on: the next cells can communicate, as with
// several ranks.
func TestWaitGivenUpByOneRank(t *testing.T) {
	t.Parallel()
	h := newHome(t, 1)
	r := h.run("t := symm.Empty(symm.F32, 4)\n"+
		"h := symm.Rendezvous(t)\n"+
		"wait := symm.Compile(`__global__ void wait(symm::Handle h) { symm::wait_for_signal(h, 0, 5, true); }`)\n"+
		"wait.Launch(symm.Grid(1), symm.Block(1), h, symm.Timeout(10*time.Millisecond)); symm.Synchronize()\n"+
		"symm.OneShotAllReduce(t.Fill(42), \"sum\").Float32s()[0]\n", "-n", "1", "--device", device())
	if !strings.Contains(r.err, "for signal word 0 to become 5") || !strings.HasSuffix(r.out, "42\n") {
		t.Errorf("%+v", r)
	}
}
