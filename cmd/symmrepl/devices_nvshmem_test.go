package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fakeNVSHMEM is fakeGPUs with a fake NVSHMEM whose operations work.
func fakeNVSHMEM(t *testing.T, gpus int, env ...string) home {
	h := fakeGPUs(t, gpus, env...)
	if !slices.ContainsFunc(env, func(s string) bool { return strings.HasPrefix(s, "SYMMREPL_NVSHMEM=") }) {
		h.env = append(h.env, "SYMMREPL_NVSHMEM="+fakeLibrary(t, "fakenvshmem.c", "libnvshmem_host.so.3"))
	}
	return h
}

// shmemCells put, get, signal, wait and meet by NVSHMEM around the ring of all ranks.
const shmemCells = `t, u := symm.Empty(symm.I32, 4), symm.Empty(symm.I32, 2); h := symm.Rendezvous(t); v, n := symm.Via("NVSHMEM"), symm.WorldSize(); next, last := (symm.Rank()+1)%n, (symm.Rank()+n-1)%n
symm.IsNvshmemAvailable(), symm.GetBackend(), t.Backend()
t.Ints()
u.CopyFrom([]int{10 + symm.Rank(), 20 + symm.Rank()}); symm.Explain(func() { h.PutWithSignal(next, u, 3, 7, v) })
h.WaitForSignal(3, "==", 7, v); t.Ints()[0] == 10 + last, t.Ints()[1:], h.GetSignal(3)
h.Barrier(0, v); h.Put(next, u.Slice(1, 2), v); h.Barrier(0, v); t.Ints()[0] == 20 + last
h.Get(next, u, v); u.Ints()[0] == 20 + symm.Rank()
h.PutSignal(next, 1, v); h.PutSignal(next, 1, v); h.WaitSignal(last, 1, v); h.WaitSignal(last, 1, v)
h.SignalAdd(next, 5, 4, v); h.WaitForSignal(5, ">=", 3, v); h.SignalAdd(next, 5, 1<<40, v); h.WaitForSignal(5, "==", 1<<40+4, v); h.GetSignal(5)
u.CopyFrom([]int{40 + symm.Rank(), 50}); h.Barrier(1, v); g := symm.Capture(func() { h.Put(next, u, v); h.SignalAdd(next, 6, 1, v) }); g.Replay(); g.Replay(); h.WaitForSignal(6, "==", 2, v); t.Ints()[0] == 40 + last
for i := range 300 { h.SignalAdd(next, 7, 1, v); h.WaitForSignal(7, ">=", uint64(i+1), v); h.Barrier(i%3, v) }; h.GetSignal(7)
s := symm.NewStream(); h.Barrier(2, v, s); s.Synchronize()
p := symm.Rendezvous(t.Slice(2, 4)); h.Barrier(0, v); p.Put(next, u, v); h.Barrier(0, v); t.Ints()[2] == 40 + last
h.Barrier(0, v); t.Free(); u.Free(); t = symm.Empty(symm.I32, 4); t.Ints()
`

// TestNVSHMEM runs every call that goes by NVSHMEM, and looks at what it does.
func TestNVSHMEM(t *testing.T) {
	t.Parallel()
	for _, ranks := range []int{1, 2, 4} {
		log := filepath.Join(t.TempDir(), "log")
		r := fakeNVSHMEM(t, ranks, "FAKE_NVSHMEM_LOG="+log).run(shmemCells, "-n", fmt.Sprint(ranks), "--device", "cuda", "--backend", "NVSHMEM")
		all := map[int]string{1: "", 2: "[0,1] ", 4: "[0-3] "}[ranks]
		some := map[int]string{1: "", 2: "[1] ", 4: "[3] "}[ranks]
		inOrder(t, fmt.Sprintf("the output of %d ranks", ranks), r.out,
			all+`true, "NVSHMEM", "NVSHMEM"`+"\n", all+"[]int{0, 0, 0, 0}\n",
			fmt.Sprintf(`%s"put_with_signal on world (%d ranks, 8 bytes): NVSHMEM 3.4.5, because the call asks for it by Via"`+"\n", all, ranks),
			some+"true, []int{", ", 0, 0}, 7\n", all+"true\n", all+"true\n", all+fmt.Sprint(1<<40+4)+"\n", all+"true\n",
			all+"300\n", all+"true\n", all+"[]int{0, 0, 0, 0}\n")
		if r.err != "" {
			t.Errorf("%d ranks: %s", ranks, r.err)
		}
		calls, _ := os.ReadFile(log)
		first := fmt.Sprintf("0 of %d ", ranks)
		for call, want := range map[string]int{
			"nvshmemx_hostlib_init_attr with 1 none lo\n": 1, "nvshmem_malloc ": 4, "nvshmem_free\n": 2,
			"nvshmemx_putmem_signal_on_stream 8 to ": 1, "nvshmemx_putmem_on_stream 4 to ": 1,
			"nvshmemx_putmem_on_stream 8 to ": 2, "nvshmemx_getmem_on_stream 8 from ": 1,
			"nvshmemx_signal_wait_until_on_stream\n": 2 + 1 + 2 + 1 + 300 + (ranks-1)*307,
		} {
			if got := strings.Count(string(calls), first+call); got != want {
				t.Errorf("%d ranks: rank 0 calls %q %d times, want %d", ranks, call, got, want)
			}
		}
	}
}

// TestNVSHMEMWaits: waits by NVSHMEM end with their deadline, with another rank's failure, and where
// no rank can end them; the session goes on.
func TestNVSHMEMWaits(t *testing.T) {
	t.Parallel()
	r := fakeNVSHMEM(t, 2).run(`import "time"
t, u := symm.Empty(symm.I32, 4).CopyFrom([]int{symm.Rank(), 1, 2, 3}), symm.Local(symm.I32, 1).CopyFrom([]int{7 + symm.Rank()}); h := symm.Rendezvous(t); v := symm.Via("NVSHMEM"); next := 1 - symm.Rank()
if symm.Rank() == 0 { h.WaitForSignal(2, "==", 1<<40+1, v); symm.Synchronize() } else { panic("no") }
if symm.Rank() == 0 { h.Barrier(2, v); symm.Synchronize() } else { panic("no") }
h.GetSignal(2), t.Ints()[1:]
h.WaitForSignal(2, "==", 5, v, symm.Timeout(100*time.Millisecond)); symm.Synchronize()
h.Barrier(2, v); h.GetSignal(2)
if symm.Rank() == 0 { h.WaitSignal(1, 2, v, symm.Timeout(100*time.Millisecond)); symm.Synchronize() }
if symm.Rank() == 0 { h.Barrier(0, v) }
if symm.Rank() == 0 { s, u := symm.NewStream(), symm.NewStream(); h.WaitForSignal(8, "==", 1, v, s); h.WaitForSignal(9, "==", 1, v, u); h.WaitForSignal(10, "==", 1, v); symm.Synchronize() } else { panic("no") }
h.Put(next, u, v); h.Barrier(2, v); t.Ints()
`, "-n", "2", "--device", "cuda", "--backend", "NVSHMEM")
	inOrder(t, "the errors", r.err, "[0] cell[3]:1:23: wait_for_signal: rank 0 waited ",
		" for signal word 2 to become 1099511627777; it is 0, and gave up: rank 1 failed: panic: no\n",
		"[0] cell[4]:1:23: barrier: rank 0 waited ", " for rank 1 to come to the barrier on channel 2, and gave up: rank 1 failed: panic: no\n",
		"cell[6]:1:1: wait_for_signal: rank 0", "for signal word 2 to become 5; it is 0\n",
		"[0] cell[8]:1:23: wait_signal: rank 0 waited ", "for a signal of rank 1 on channel 2, which never came\n", "hint: rank 1 must put it\n",
		"[0] cell[9]:1:23: barrier: rank 0 waited ", "for rank 1 to come to the barrier on channel 0: rank 1 has finished the cell\n",
		"rank 0  waits in barrier #", "for rank 1: the barrier on channel 0, for ",
		"[0] cell[10]:1:", "wait_for_signal: rank 0 waited ", "gave up: rank 1 failed: panic: no\n")
	inOrder(t, "the output", r.out, "[0,1] 0, []int{1, 2, 3}\n", "[0,1] 0\n", "[0] []int{8, 1, 2, 3}\n[1] []int{7, 1, 2, 3}\n")
}

// TestNVSHMEMInterrupted: Ctrl-C ends the wait for a heap that NVSHMEM never makes, and a wait by it.
func TestNVSHMEMInterrupted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ hang, cell string }{
		{"init", `fmt.Println("begun"); symm.Empty(symm.F32, 1)`},
		{"none", `h := symm.Rendezvous(symm.Empty(symm.F32, 1)); fmt.Println("begun"); h.WaitForSignal(1, "==", 1, symm.Via("NVSHMEM"))`},
	} {
		h := fakeNVSHMEM(t, 2, "FAKE_NVSHMEM_HANG="+c.hang)
		cmd := h.command("-n", "2", "--device", "cuda", "--backend", "NVSHMEM", "-e", c.cell)
		var said strings.Builder
		cmd.Stderr = &said
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill() })
		if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "[0,1] begun\n" {
			t.Fatalf("read %q, %v: %s", line, err, said.String())
		}
		cmd.Process.Signal(os.Interrupt)
		end(t, "the script", cmd)
		if got := cmd.ProcessState.ExitCode(); got != 128+2 {
			t.Errorf("%s: exit status %d: %s", c.hang, got, said.String())
		}
		h.expectNothingLeft()
	}
}

// TestNVSHMEMMisuse: what NVSHMEM does not do is refused, with what to do instead.
func TestNVSHMEMMisuse(t *testing.T) {
	t.Parallel()
	r := fakeNVSHMEM(t, 2).run(`t := symm.Empty(symm.I32, 4); h := symm.Rendezvous(t); v := symm.Via("NVSHMEM"); next := 1 - symm.Rank(); pair := symm.NewGroup(0, 1)
symm.Capture(func() { h.Barrier(0, v) })
symm.Capture(func() { h.WaitForSignal(0, "==", 1, v) })
symm.Capture(func() { h.WaitSignal(next, 0, v) })
h.Get(next, t, symm.Via("NCCL"))
h.Barrier(0, symm.Via("flat"))
h.Put(next, t, symm.Via("flat"))
h.Put(2, t, v)
symm.AllReduce(t, "sum", v)
w := pair.Empty(symm.I32, 2); w.Backend(), pair.Backend(), symm.World().Backend()
k := symm.Rendezvous(w, pair); k.Put(next, t.Slice(0, 2), v)
k = symm.Rendezvous(t, pair); k.Put(next, t.Slice(0, 1), v); k.Barrier(0, v)
symm.SetBackend("CUDA")
if symm.Rank() == 0 { symm.Empty(symm.I32, 4) } else { symm.Empty(symm.I32, 5) }
symm.Empty(symm.I32, 1<<25)
x := symm.Empty(symm.I32, 4); x.Ints()
`, "-n", "2", "--device", "cuda", "--backend", "NVSHMEM")
	inOrder(t, "the errors", r.err, "barrier: waits by NVSHMEM cannot be captured: in a graph nothing could end them\n",
		"wait_for_signal: waits by NVSHMEM cannot be captured", "wait_signal: waits by NVSHMEM cannot be captured",
		"get: NCCL does not do this operation\n", `barrier: Via of barrier must be "NVSHMEM", not "flat"`+"\n",
		`put: Via of put must be "NCCL" or "NVSHMEM", not "flat"`+"\n", "put: dst must be in [0, 2), not 2\n",
		"all_reduce: NVSHMEM does not do this operation\n",
		"put: i32[2] is not memory of NVSHMEM's heap\n", "hint: give a handle of a tensor that symm.Empty made\n",
		"barrier: the signals by NVSHMEM are of world, not of group 0,1\n", "hint: leave Via out, or use a handle of world\n",
		"SetBackend: symmetric memory was made by NVSHMEM already\n",
		"Empty: the ranks made different collective calls: rank 0: Empty i32[4] of NVSHMEM's heap",
		"Empty: nvshmem_malloc returned 0: the heap has no room: NVSHMEM_SYMMETRIC_SIZE and NVSHMEM_MAX_MEMORY_PER_GPU limit it\n")
	inOrder(t, "the output", r.out, `[0,1] "CUDA", "CUDA", "NVSHMEM"`+"\n", "[0,1] []int{0, 0, 0, 0}\n")

	const alone = `h := symm.Rendezvous(symm.Empty(symm.I32, 1))
h.Put(0, symm.Local(symm.I32, 1), symm.Via("NVSHMEM"))
`
	for _, c := range []struct{ env, args, want string }{
		{"", "--backend CUDA", "put: NVSHMEM needs memory of its heap, and the back end is CUDA\n"},
		{"FAKE_NVSHMEM_FAIL=nvshmemx_hostlib_init_attr", "--backend NVSHMEM", "Empty: nvshmemx_hostlib_init_attr returned 7: NVSHMEM_DEBUG=INFO tells more\n"},
		{"FAKE_NVSHMEM_FAIL=nvshmemx_get_uniqueid", "--backend NVSHMEM", "Empty: nvshmemx_get_uniqueid returned 7: NVSHMEM_DEBUG=INFO tells more\n"},
		{"FAKE_NVSHMEM_NUMBERS=other", "--backend NVSHMEM", "Empty: nvshmem_my_pe returned -1: it does not number the ranks as the session does\n"},
		{"FAKE_NVSHMEM_APART=1", "--backend NVSHMEM",
			"Rendezvous: mapping the memory of rank 1,0: nvshmem_ptr has no pointer to it: see `symmrepl doctor` for whether these GPUs can map each other's memory\n"},
		{"FAKE_CUDA_DEVICES=1", "--backend NVSHMEM",
			"the back end NVSHMEM cannot be used: ranks 0,1 share a GPU, in turns by time slices, and NVSHMEM needs a GPU for each PE"},
		{"TORCH_SYMMMEM=NVSHMEM", "--hosts 2 --net null",
			"the back end NVSHMEM cannot be used: it reaches the memory of other ranks by pointers, and the ranks 0 and 1 have none to each other's"},
		{"FAKE_NVSHMEM_VERSION=3.3.20", "--backend NVSHMEM",
			"version 3.3.20 is older than 3.4, the oldest that is known (`pip install nvidia-nvshmem-cu13`, or set SYMMREPL_NVSHMEM to another library, or leave --backend out)\n"},
		{"FAKE_NVSHMEM_VERSION=3.9.1", "--backend NVSHMEM", "version 3.9.1 is newer than 3.8, the newest that is known ("},
		{"SYMMREPL_NVSHMEM=/nowhere", "--backend NVSHMEM", "NVSHMEM was not found: SYMMREPL_NVSHMEM is /nowhere, which has no NVSHMEM"},
	} {
		r := fakeNVSHMEM(t, 2, c.env).run(alone, append([]string{"-n", "2", "--device", "cuda"}, strings.Fields(c.args)...)...)
		inOrder(t, fmt.Sprint(c), r.out+r.err, c.want)
	}
	r = fakeNVSHMEM(t, 1).run(`symm.SetBackend("NVSHMEM")`, "-n", "2", "--device", "cuda")
	inOrder(t, "SetBackend of ranks that share a GPU", r.err,
		"SetBackend: the back end NVSHMEM cannot be used: ranks 0,1 share a GPU", "hint: start as many ranks as there are GPUs, or use CUDA\n")
	r = fakeNVSHMEM(t, 2).run(`symm.SetBackend("NVSHMEM"); symm.Empty(symm.I32, 2).Backend()`, "-n", "2", "--device", "cuda")
	inOrder(t, "SetBackend", r.out+r.err, "[0,1] \"NVSHMEM\"\n")
	r = newHome(t, 2).run(alone)
	if device() == "cpu" {
		inOrder(t, "the cpu device", r.err, "put: NVSHMEM needs the cuda device, this is cpu\n")
	}
	inOrder(t, "doctor", fakeNVSHMEM(t, 2).run("", "doctor").out, "NVSHMEM    3.4.5, ", "back end   NVSHMEM: 3.4.5, with heap, puts, signals\n")
}

// TestNVSHMEMLost: after a rank was replaced no rank can use the heap any more. Memory of the driver
// goes on.
func TestNVSHMEMLost(t *testing.T) {
	t.Parallel()
	r := fakeNVSHMEM(t, 2).run(`import "os"
symm.Rendezvous(symm.Empty(symm.I32, 2)).BufferPtrs()[0] != 0
if symm.Rank() == 1 { os.Exit(3) }
:restart 1
symm.Empty(symm.I32, 2)
pair := symm.NewGroup(0, 1); x := pair.Empty(symm.I32, 2); symm.Rendezvous(x, pair).BufferPtrs()[0] != 0
`, "-n", "2", "--device", "cuda", "--backend", "NVSHMEM")
	inOrder(t, "the errors after a restart", r.err, "Empty: NVSHMEM cannot go on: rank 1 was replaced\n",
		"hint: start the session again, or make tensors of another group than world, whose memory is the driver's\n")
	inOrder(t, "the output after a restart", r.out, "[0,1] true\n", "[0,1] true\n")
}
