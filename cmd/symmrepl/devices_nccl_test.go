package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/symmrepl/symmrepl/kernels/abi"
)

// fakeNCCL is fakeGPUs with a fake NCCL whose collectives work.
func fakeNCCL(t *testing.T, gpus int, env ...string) home {
	h := fakeGPUs(t, gpus, env...)
	h.env = append(h.env, "SYMMREPL_NCCL="+fakeLibrary(t, "fakenccl.c", "libnccl.so.2"))
	return h
}

// fakeLibrary returns the path of a library of the cuda device's tests, in a folder lib of its own.
func fakeLibrary(t *testing.T, source, name string) string {
	library := filepath.Join(t.TempDir(), "lib", name)
	err := os.Mkdir(filepath.Dir(library), 0o700)
	if err == nil {
		err = os.Link(built(t, source), library)
	}
	if err != nil {
		t.Fatal(err)
	}
	return library
}

// builds are the libraries that built has made, by source.
var builds struct {
	sync.Mutex
	made map[string]string
}

// built returns a library made of a C file of the cuda device's tests. It is made once in this
// process, so nobody may change it.
func built(t *testing.T, source string) string {
	t.Helper()
	builds.Lock()
	defer builds.Unlock()
	library := builds.made[source]
	if library != "" {
		return library
	}
	library = filepath.Join(os.TempDir(), source+".so")
	if out, err := exec.Command("cc", "-shared", "-fPIC", "-O1", "-o", library, "../../symmem/internal/cuda/testdata/"+source,
		"-lpthread").CombinedOutput(); err != nil {
		t.Fatalf("%s does not build: %v\n%s", source, err, out)
	}
	if builds.made == nil {
		builds.made = map[string]string{}
	}
	builds.made[source] = library
	return library
}

// TestNCCL runs every collective that NCCL supports, captures one, and loses a communicator.
func TestNCCL(t *testing.T) {
	t.Parallel()
	r := fakeNCCL(t, 2).run(`import ("fmt"; "time")
t := symm.Empty(symm.F32, 4); h := symm.Rendezvous(t); v := symm.Via("NCCL")
t.CopyFrom([]float32{1, 2, 3, float32(symm.Rank())})
symm.Capture(func() { symm.AllReduce(t, "sum", v) })
symm.Explain(func() { symm.AllReduce(t, "sum", v) })
t.Float32s()
g := symm.Capture(func() { symm.AllReduce(t, "avg", v); symm.AllReduce(t, "sum", v) })
g.Replay(); g.Replay(); t.Float32s()
symm.AllReduce(t, "min", v); symm.AllGather(t, v).Float32s()
u := symm.Empty(symm.I32, 2); symm.Rendezvous(u); u.CopyFrom([]int{symm.Rank() * 10, symm.Rank()*10 + 1}); symm.AllToAll(u, v).Ints()
symm.ReduceScatter(u, "sum", v).Ints()
symm.Broadcast(u, 1, v).Ints()
symm.AllReduce(u, "avg", v)
symm.AllReduce(u, "sum", v, symm.Timeout(time.Second))
symm.AllReduce(u, "sum", symm.Via("flat"))
if symm.Rank() == 0 { symm.AllReduce(u, "sum", v); symm.Synchronize() } else { panic("no") }
u.CopyFrom([]int{symm.Rank(), 7}); symm.AllReduce(u, "max", v).Ints()
g.Replay()
p := symm.NewGroup(1); if symm.Rank() == 1 { w := p.Empty(symm.I64, 3); symm.Rendezvous(w, p); w.CopyFrom([]int{5, 6, 7}); fmt.Println(symm.AllReduce(w, "sum", v, p).Ints()) }
`, "-n", "2", "--device", "cuda")
	inOrder(t, "the output", r.out, `[0,1] "all_reduce f32[4] sum on world (2 ranks, 16 bytes): NCCL 2.28.9, because the call asks for it by Via"`, "\n[0,1] []float32{2, 4, 6, 1}\n",
		"[0,1] []float32{8, 16, 24, 4}\n", "[0,1] []float32{8, 16, 24, 4, 8, 16, 24, 4}\n", "[0] []int{0, 10}\n[1] []int{1, 11}\n",
		"[0] []int{10}\n[1] []int{12}\n", "[0,1] []int{10, 11}\n",
		"[0,1] []int{1, 7}\n", "[1] [5 6 7]\n")
	inOrder(t, "the errors", r.err, "cell[4]:1:23: all_reduce: world has no communicator of NCCL yet, and none can be made while a graph is captured\n", "hint: make the call once before the capture\n",
		"cell[13]:1:1: all_reduce: NCCL does not do this: it has no avg of integers\n",
		"cell[14]:1:1: all_reduce: NCCL does not do this: its waits have no Timeout\n",
		"cell[15]:1:1: all_reduce: all ranks of world are on one host\n", "[0] cell[16]:1:23: all_reduce: rank 0 waited ",
		" for NCCL, and gave up: rank 1 failed: panic: no\n",
		"[0,1] cell[18]:1:1: Replay: world has another communicator of NCCL since the graph was captured\n", "hint: capture it again\n")
}

// TestNCCLPointer: a group gives its communicator to other code, and uses one that other code has made.
// A call that waits in that one is given up as any call is.
func TestNCCLPointer(t *testing.T) {
	t.Parallel()
	h := fakeNCCL(t, 2)
	folder := t.TempDir()
	h.env = append(h.env, "FAKE_NCCL_OTHER="+folder)
	r := h.run(`import ("fmt"; "os"; "strconv")
t := symm.Empty(symm.F32, 2); symm.Rendezvous(t); t.CopyFrom([]float32{1, float32(symm.Rank())}); v := symm.Via("NCCL"); kept := 5
g := symm.World(); p := g.Comm(); p != 0 && p == g.Comm()
symm.Explain(func() { symm.AllReduce(t, "sum", v) })
text, _ := os.ReadFile(fmt.Sprint("`+folder+`/", symm.Rank())); n, _ := strconv.ParseUint(string(text), 10, 64); other := uintptr(n)
o := symm.NewGroup(0, 1); symm.Rendezvous(t, o); o.AdoptComm(other); o.Comm() == other
symm.Explain(func() { symm.AllReduce(t, "sum", v, o) })
t.Float32s()
o.AdoptComm(other)
q := symm.NewGroup(0, 1); q.AdoptComm(p)
q.AdoptComm(other)
q.AdoptComm(0)
q.AdoptComm(4711)
symm.Capture(func() { q.Comm() })
one := symm.NewGroup(symm.Rank()); o.Free(); one.AdoptComm(other)
q.AdoptComm(other); symm.Rendezvous(t, q); symm.AllReduce(t, "sum", v, q).Float32s()
if symm.Rank() == 0 { symm.AllReduce(t, "sum", v, q); symm.Synchronize() } else { panic("no") }
kept
q.Comm() != other
`, "-n", "2", "--device", "cuda")
	inOrder(t, "the output", r.out, "[0,1] true\n", ": NCCL 2.28.9", "[0,1] true\n", ": NCCL 2.28.9", "[0,1] []float32{4, 2}\n",
		"[0,1] []float32{8, 4}\n", "[0,1] 5\n", "[0,1] true\n")
	inOrder(t, "the errors", r.err, "AdoptComm: group 0,1 has a communicator of NCCL already\n", ": it is the communicator of world already\n",
		"hint: give this rank's ncclComm_t of a communicator with the ranks of the group\n", ": it is the communicator of group 0,1 already\n",
		"AdoptComm: comm cannot be adopted: it is no communicator of NCCL 2.28.9: there is no memory at that address\n", "[0,1] cell[13]:1:1: AdoptComm: comm cannot be adopted: it is no communicator",
		"Comm: group 0,1 has no communicator of NCCL yet, and none can be made while a graph is captured\n",
		"this process has rank 0,1 of 2 in it, and rank 0 of 1 in the group\n",
		"[0] cell[17]:1:23: all_reduce: rank 0 waited ", " for NCCL, and gave up: rank 1 failed: panic: no\n")

	r = newHome(t, 2).run("symm.World().Comm()\nsymm.World().AdoptComm(1)\n", "-n", "2", "--device", "cpu")
	inOrder(t, "the errors", r.err, "Comm: NCCL needs the cuda device, this is ", "hint: start with --device cuda",
		"AdoptComm: NCCL needs the cuda device, this is ")
}

// TestNCCLOverHosts: NCCL carries collectives between hosts if all ranks have it. Each rank gives
// NCCL the name of its host.
func TestNCCLOverHosts(t *testing.T) {
	t.Parallel()
	const cells = `import "os"
t := symm.Empty(symm.F32, 2); symm.Rendezvous(t); t.CopyFrom([]float32{1, float32(symm.Rank())})
symm.Explain(func() { symm.AllReduce(t, "sum") })
t.Float32s(), os.Getenv("NCCL_HOSTID"), os.Getenv("NCCL_SOCKET_IFNAME"), os.Getenv("NCCL_NVLS_ENABLE")
`
	r := fakeNCCL(t, 4, "NCCL_NVLS_ENABLE=0").run(cells, "-n", "4", "--hosts", "2", "--net", "null", "--device", "cuda")
	inOrder(t, "the output", r.out+r.err, `[0-3] "all_reduce f32[2] sum on world (4 ranks, 8 bytes): NCCL 2.28.9, because the group spans 2 hosts"`+"\n",
		"[0,1] []float32{4, 6}, \"symmrepl-host-0\", \"lo\", \"0\"\n[2,3] []float32{4, 6}, \"symmrepl-host-1\", \"lo\", \"0\"\n")
	r = fakeNCCL(t, 2).run(`t := symm.Empty(symm.F32, 2); symm.Rendezvous(t); t.CopyFrom([]float32{1, float32(symm.Rank())})
symm.AllReduce(t, "sum")
symm.Rendezvous(t).Barrier(0)
symm.AllReduce(t, "sum", symm.Via("NCCL")).Float32s()
symm.Caps().Between
`, "-n", "2", "--hosts", "2", "--net", "none", "--device", "cuda")
	inOrder(t, "the errors without a network", r.err,
		"[0] cell[2]:1:1: all_reduce: no engine carries all_reduce between hosts, and rank 1 is on another one; rank 0 has no network: none was chosen\n",
		"[0]     hint: use the ranks of this host, which are 0: symm.LSA(), or symm.Via(\"NCCL\"), which has a network of its own\n",
		"[0] cell[3]:1:1: barrier: no engine carries barrier between hosts",
		"[0]     hint: use the ranks of this host, which are 0: symm.LSA()\n")
	inOrder(t, "NCCL without a network", r.out, "[0,1] []float32{2, 1}\n[0,1] \"nothing\"\n")
	// A group that spans hosts uses NCCL with every back end. A group of one host uses NCCL if the
	// call asks for it.
	log := filepath.Join(t.TempDir(), "windows")
	r = fakeNCCL(t, 4, "FAKE_NCCL_VERSION=23203",
		"FAKE_NCCL_WINDOWS="+log).run(`t := symm.Empty(symm.I32, 2).CopyFrom([]int{symm.Rank() + 1, symm.Rank() + 1}); rail, host := symm.World().Rail(), symm.World().LSA()
symm.Rendezvous(t); symm.Rendezvous(t, rail); symm.Rendezvous(t, host)
symm.Explain(func() { symm.AllReduce(t, "sum", rail) })
t.Ints()
symm.Explain(func() { symm.AllReduce(t, "sum", host, symm.Via("NCCL")) })
t.Ints()
symm.AllGather(t.Slice(0, 1)).Ints()
symm.Broadcast(t.CopyFrom([]int{symm.Rank(), symm.Rank()}), 3).Ints()
u := symm.Empty(symm.I32, 4).CopyFrom([]int{10*symm.Rank(), 10*symm.Rank()+1, 10*symm.Rank()+2, 10*symm.Rank()+3}); symm.Rendezvous(u); symm.AllToAll(u).Ints()
symm.ReduceScatter(u, "max").Ints()
`, "-n", "4", "--hosts", "2", "--net", "null", "--device", "cuda", "--backend", "NCCL")
	inOrder(t, "the output of groups", r.out+r.err, "all_reduce i32[2] sum on ",
		" (2 ranks, 8 bytes): NCCL 2.32.3, because the group spans 2 hosts\"\n", "[0,2] []int{4, 4}\n[1,3] []int{6, 6}\n",
		" (2 ranks, 8 bytes): NCCL 2.32.3, because the call asks for it by Via\"\n", "[0-3] []int{10, 10}\n",
		"[0-3] []int{10, 10, 10, 10}\n", "[0-3] []int{3, 3}\n",
		"[0] []int{0, 10, 20, 30}\n[1] []int{1, 11, 21, 31}\n[2] []int{2, 12, 22, 32}\n[3] []int{3, 13, 23, 33}\n",
		"[0] []int{30}\n[1] []int{31}\n[2] []int{32}\n[3] []int{33}\n")

	// Rank 1 gives up first. Rank 0 still waits for it until rank 0 gives up too, and does not take
	// rank 1 for lost.
	r = fakeNCCL(t, 2).run(`import "time"
t := symm.Empty(symm.I32, 1).CopyFrom([]int{5}); symm.Rendezvous(t); symm.AllReduce(t, "sum")
ended := make(chan error, 1); if symm.Rank() == 0 { symm.AllReduce(t, "sum"); go func() { ended <- symm.Maybe(symm.Synchronize) }(); time.Sleep(500 * time.Millisecond); fmt.Println("ended:", len(ended)) }; symm.Recover()
symm.AllReduce(t.CopyFrom([]int{4}), "sum").Ints()
`, "-n", "2", "--hosts", "2", "--net", "null", "--device", "cuda")
	inOrder(t, "giving up one after the other", r.out+r.err, "[0] ended: 0\n", "[0,1] []int{8}\n")

	r = fakeNCCL(t, 2, "FAKE_NCCL_VERSION=22707").run(cells+`symm.AllReduce(t, "sum", symm.Via("NCCL"))`+"\n", "-n", "2", "--hosts", "2",
		"--net", "null", "--device", "cuda")
	inOrder(t, "the way without an old NCCL", r.out, " of this rank over the null network, because ",
		"; NCCL does not carry it: rank 0 has no NCCL: NCCL cannot be used: ")
	inOrder(t, "the errors with an old NCCL", r.err, "all_reduce: rank 0 has no NCCL: NCCL cannot be used: ",
		"version 2.27.7 is older than 2.28.0, the oldest that is known\n",
		"hint: `pip install nvidia-nccl-cu13`, or set SYMMREPL_NCCL to another library\n")
}

// TestNCCLFails: a failure in NCCL is an error of the call, or of the next synchronisation. The
// session goes on.
func TestNCCLFails(t *testing.T) {
	t.Parallel()
	const cells = `t := symm.Empty(symm.I32, 1); symm.Rendezvous(t); t.CopyFrom([]int{7})
symm.AllReduce(t, "sum", symm.Via("NCCL")).Ints()
symm.Broadcast(t, 0, symm.Via("NCCL")).Ints()
t.Ints()
`
	args := []string{"-n", "2", "--device", "cuda"}
	r := fakeNCCL(t, 2, "FAKE_NCCL_FAIL=ncclCommInitRankConfig=2").run(cells, args...)
	inOrder(t, "a communicator that is not made", r.err+r.out,
		"all_reduce: ncclCommInitRankConfig returned 2: unhandled error: fake error, HOSTID unset\n", "[0,1] []int{7}\n")
	r = fakeNCCL(t, 2, "FAKE_NCCL_FAIL=ncclAllReduce=4").run(cells, args...)
	inOrder(t, "a call that fails", r.err+r.out, "all_reduce: ncclAllReduce returned 4: invalid argument: ncclAllReduce was made to fail\n",
		"[0,1] []int{7}\n[0,1] []int{7}\n")

	r = fakeNCCL(t, 2, "FAKE_NCCL_FAIL=ncclAllReduce=1").run(cells, args...)
	inOrder(t, "a kernel that the library has not", r.err,
		"all_reduce: ncclAllReduce returned 1: unhandled error: Cuda failure 98 'invalid device function'\n",
		"hint: this build of NCCL has no kernel of the call for a GPU of sm_90: set SYMMREPL_NCCL to another one\n")

	lost := filepath.Join(t.TempDir(), "lost")
	r = fakeNCCL(t, 2, "FAKE_NCCL_LOST="+lost).run(cells+`import ("os"; "time")
if symm.Rank() == 0 { symm.AllReduce(t, "sum", symm.Via("NCCL")); symm.Synchronize() } else { os.WriteFile("`+lost+`", nil, 0o600); time.Sleep(time.Second); os.Remove("`+lost+`") }
t.CopyFrom([]int{symm.Rank()}); symm.AllReduce(t, "sum", symm.Via("NCCL")).Ints()
`, args...)
	inOrder(t, "a lost peer", r.err+r.out,
		"[0] cell[6]:1:23: all_reduce: NCCL 2.28.9 failed: remote process exited or there was a network error: fake error, HOSTID unset\n", "[0,1] []int{1}\n")
}

// TestNCCLInterrupted: Ctrl-C ends the wait for a communicator that NCCL never creates.
func TestNCCLInterrupted(t *testing.T) {
	t.Parallel()
	h := fakeNCCL(t, 2, "FAKE_NCCL_HANG=init")
	cmd := h.command("-n", "2", "--device", "cuda", "-e",
		`t := symm.Empty(symm.F32, 1); symm.Rendezvous(t); fmt.Println("begun"); symm.AllReduce(t, "sum", symm.Via("NCCL"))`)
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
	defer time.AfterFunc(patience(), func() { cmd.Process.Kill() }).Stop()
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "[0,1] begun\n" {
		t.Fatalf("read %q, %v", line, err)
	}
	time.Sleep(300 * time.Millisecond) // the rank now joins the communicator
	cmd.Process.Signal(os.Interrupt)
	end(t, "the script", cmd)
	if got := cmd.ProcessState.ExitCode(); got != 128+2 {
		t.Errorf("exit status %d: %s", got, said.String())
	}
	h.expectNothingLeft()
}

// TestNCCLWindows: with the back end NCCL a tensor is a window as long as both the tensor and the
// communicator live.
func TestNCCLWindows(t *testing.T) {
	t.Parallel()
	const cells = `t, u := symm.Empty(symm.F32, 4), symm.Empty(symm.F32, 1<<20); symm.Rendezvous(t); symm.Rendezvous(u); symm.Rendezvous(t.Slice(0, 2))
g := symm.Capture(func() { symm.AllReduce(t, "sum", symm.Via("NCCL")) })
t.CopyFrom([]float32{1, 2, 3, 4}); g.Replay(); t.Float32s()
t.Free()
if symm.Rank() == 0 { symm.AllReduce(u.Slice(0, 8), "sum", symm.Via("NCCL")); symm.Synchronize() } else { panic("no") }
v := symm.Empty(symm.I32, 1); symm.Rendezvous(v); v.CopyFrom([]int{3}); symm.AllReduce(v, "sum", symm.Via("NCCL")).Ints()
`
	log := filepath.Join(t.TempDir(), "windows")
	run := func(env ...string) (out, said string) {
		os.Remove(log)
		r := fakeNCCL(t, 2, append(env, "FAKE_NCCL_WINDOWS="+log)...).run(cells, "-n", "2", "--device", "cuda", "--backend", "NCCL")
		windows, _ := os.ReadFile(log)
		return r.out + r.err, regexp.MustCompile("(?m)^1 of 2 .*\n").ReplaceAllString(string(windows), "")
	}
	out, said := run("FAKE_NCCL_VERSION=23007")
	inOrder(t, "the output", out, "[0,1] []float32{2, 4, 6, 8}\n", "[0,1] []int{6}\n", "for NCCL, and gave up: rank 1 failed: panic: no")
	const want = `0 of 2 registers 2097152 window 1
0 of 2 registers 6291456 window 2
0 of 2 ends 0 window 1
0 of 2 registers 6291456 window 1
0 of 2 registers 2097152 window 2
`
	if said != want {
		t.Errorf("rank 0's windows:\n%s, want\n%s", said, want)
	}
	for _, env := range [][]string{nil, {"FAKE_NCCL_VERSION=22907"}, {"FAKE_NCCL_VERSION=23006", "SYMMREPL_NCCL_WINDOWS=0"}} {
		if out, said := run(env...); said != "" || !strings.Contains(out, "[0,1] []int{6}\n") {
			t.Errorf("%v, whose windows cannot be relied on:\n%s\n%s", env, said, out)
		}
	}
	if _, said := run("FAKE_NCCL_VERSION=23006", "SYMMREPL_NCCL_WINDOWS=1"); said != want {
		t.Errorf("windows that were asked for: %s, want\n%s", said, want)
	}
	const warned = "NCCL 2.30.6 with windows (may be wrong before 2.30.7)"
	h := fakeNCCL(t, 2, "FAKE_NCCL_VERSION=23006", "SYMMREPL_NCCL_WINDOWS=1")
	r := h.run(`t := symm.Empty(symm.I32, 1); symm.Rendezvous(t)
symm.Explain(func() { symm.AllReduce(t, "sum", symm.Via("NCCL")) })
`, "-n", "2", "--device", "cuda", "--backend", "NCCL")
	inOrder(t, "Explain", r.out+r.err, warned+", because the call asks for it by Via")
	inOrder(t, "doctor", h.run("", "doctor").out, "NCCL: 2.30.6, with collectives, windows (may be wrong before 2.30.7)")
	out, _ = run("FAKE_NCCL_VERSION=23007", "FAKE_NCCL_FAIL=ncclCommWindowRegister=5")
	inOrder(t, "the output", out, "Rendezvous: ncclCommWindowRegister returned 5: unhandled error")
}

// TestNCCLOrdinary: NCCL reads ordinary tensors as they are. Explain says so where a symmetric one
// would be a window.
func TestNCCLOrdinary(t *testing.T) {
	t.Parallel()
	const cells = `t := symm.Local(symm.F32, 4).CopyFrom([]float32{1, 2, 3, float32(symm.Rank())}); v := symm.Via("NCCL")
symm.Explain(func() { symm.AllReduce(t, "sum", v) }), t.Float32s()
symm.Explain(func() { symm.AllGather(t.Slice(2, 4), v).Float32s() })
symm.ReduceScatter(t, "max", v).Float32s(), symm.AllToAll(t, v).Float32s(), symm.Broadcast(t, 1, v).Float32s()
g := symm.Capture(func() { symm.AllReduce(t, "sum", v) }); g.Replay(); t.Float32s()
u := symm.Empty(symm.F32, 4); symm.Rendezvous(u); symm.Explain(func() { symm.AllReduce(u, "sum", v) })
`
	const asked = ", because the call asks for it by Via"
	for version, note := range map[string]string{"22809": "", "23203": "; it reads ordinary memory, which is no window"} {
		r := fakeNCCL(t, 2, "FAKE_NCCL_VERSION="+version).run(cells, "-n", "2", "--device", "cuda", "--backend", "NCCL")
		inOrder(t, version, r.out+r.err, asked+note+`", []float32{2, 4, 6, 1}`+"\n", asked+note+"\"\n",
			"[0] []float32{2, 4}, []float32{2, 4, 2, 4}, []float32{2, 4, 6, 1}\n[1] []float32{6, 1}, []float32{6, 1, 6, 1}, []float32{2, 4, 6, 1}\n",
			"[0,1] []float32{4, 8, 12, 2}\n", asked+"\"\n")
	}
}

// TestNCCLAverages: NCCL has no kernel of its own that averages windows; the average is right all
// the same.
func TestNCCLAverages(t *testing.T) {
	t.Parallel()
	r := fakeNCCL(t, 2, "FAKE_NCCL_VERSION=23203").run(`t := symm.Empty(symm.F32, 2).CopyFrom([]float32{float32(symm.Rank()), 5}); symm.Rendezvous(t)
symm.AllReduce(t, "avg", symm.Via("NCCL")).Float32s()
g := symm.Capture(func() { symm.AllReduce(t, "sum", symm.Via("NCCL")); symm.AllReduce(t, "avg", symm.Via("NCCL")) })
g.Replay(); g.Replay(); t.Float32s()
`, "-n", "2", "--device", "cuda", "--backend", "NCCL")
	inOrder(t, "the output", r.out+r.err, "[0,1] []float32{0.5, 5}\n", "[0,1] []float32{2, 20}\n")
}

// TestNCCLShares: ranks that share a GPU have a communicator if NCCL_MULTI_RANK_GPU_ENABLE=1 allows
// it and NCCL is 2.30.3 or later.
func TestNCCLShares(t *testing.T) {
	t.Parallel()
	const cells = `t := symm.Empty(symm.I32, 2).CopyFrom([]int{symm.Rank(), 7}); symm.Rendezvous(t)
symm.AllReduce(t, "sum", symm.Via("NCCL")).Ints()
`
	const shared = "all_reduce: NCCL does not do this: ranks 0,1 share a GPU, in turns by time slices, and "
	for _, c := range []struct{ version, variable, want string }{
		{"23203", "", shared + "NCCL 2.32.3 needs a GPU for each unless NCCL_MULTI_RANK_GPU_ENABLE=1 is set for all ranks\n"},
		{"22907", "1", shared + "NCCL 2.29.7 needs a GPU for each; 2.30.3 or later does not, with NCCL_MULTI_RANK_GPU_ENABLE=1\n"},
		{"23203", "1", "[0,1] []int{1, 14}\n"},
	} {
		for _, backend := range []string{"CUDA", "NCCL"} {
			r := fakeNCCL(t, 1, "FAKE_NCCL_VERSION="+c.version, "NCCL_MULTI_RANK_GPU_ENABLE="+c.variable).run(cells,
				"-n", "2", "--device", "cuda", "--backend", backend)
			inOrder(t, fmt.Sprint(c, backend), r.err+r.out, c.want)
		}
	}
}

// TestNCCLPuts: with the back end NCCL, Via("NCCL") makes a put use NCCL's puts. The fake driver
// runs no kernels, so the ranks meet on the host.
func TestNCCLPuts(t *testing.T) {
	t.Parallel()
	const cells = `t, u := symm.Empty(symm.I32, 4), symm.Empty(symm.I32, 2); h := symm.Rendezvous(t.Slice(1, 4)); symm.Rendezvous(u); v, next := symm.Via("NCCL"), 1 - symm.Rank()
u.CopyFrom([]int{10 + symm.Rank(), 20 + symm.Rank()})
symm.Explain(func() { h.PutWithSignal(next, u, 3, 7, v) })
t.Ints()
h.Put(symm.Rank(), u.Slice(1, 2), v); h.Put(next, u.Slice(0, 0), v); t.Ints()
symm.Synchronize(); symm.Meet()
if symm.Rank() == 0 { h.WaitSignal(1, 0); h.Put(1, u, v); symm.Synchronize() } else { panic("no") }
t.Fill(0); symm.Synchronize(); symm.Meet(); h.Put(next, u, v)
symm.Broadcast(u, 0, v); h.Put(next, u, v); symm.Synchronize(); symm.Meet(); t.Ints()
h.Put(next, symm.Local(symm.I32, 1), v)
h.Put(next, h.GetBuffer(next, symm.I32, 1), v)
h.Put(next, u, symm.Via("flat"))
symm.Capture(func() { h.Put(next, u, v) })
h.Get(next, u, v)
`
	args := []string{"-n", "2", "--device", "cuda", "--backend"}
	r := fakeNCCL(t, 2, "FAKE_NCCL_VERSION=23203").run(cells, append(args, "NCCL")...)
	inOrder(t, "the output", r.out, `[0,1] "put_with_signal on world (2 ranks, 8 bytes): NCCL 2.32.3 by copy engines, because the call asks for it by Via"`+"\n", "[0] []int{0, 11, 21, 0}\n[1] []int{0, 10, 20, 0}\n",
		"[0] []int{0, 20, 21, 0}\n[1] []int{0, 21, 20, 0}\n", "[0,1] []int{0, 10, 20, 0}\n")
	inOrder(t, "the errors", r.err, "put: world has no communicator of NCCL since Recover\n",
		"hint: let all its ranks make a collective by NCCL first, such as symm.Broadcast(t, 0, symm.Via(\"NCCL\"))\n",
		"put: NCCL puts from window to window, and i32[1] is in none of world\n",
		"hint: give a tensor of Empty that world has rendezvoused\n",
		"put: NCCL puts from window to window, and i32[1] is in none of world\n",
		"put: Via of put must be \"NCCL\" or \"NVSHMEM\", not \"flat\"\n",
		"put: NCCL's puts cannot be captured: in a graph they wait for its own waits\n",
		"get: NCCL does not do this operation\n")

	const alone = `t := symm.Empty(symm.I32, 1); h := symm.Rendezvous(t)
h.Put(0, t, symm.Via("NCCL"))
`
	for _, c := range []struct{ version, backend, fail, want string }{
		{"23203", "CUDA", "", "put: NCCL's puts need windows: the back end is CUDA, and only tensors of the back end NCCL are windows\n"},
		{"22809", "NCCL", "", "put: NCCL's puts need windows: kernels of NCCL 2.28.9 on windows cannot be aborted; those of 2.29.7 and later can\n"},
		{"23006", "NCCL", "", "put: NCCL's puts need windows: kernels of NCCL 2.30.6 on windows may overtake the kernel before them and be silently wrong; those of 2.30.7 and later do not, and SYMMREPL_NCCL_WINDOWS=1 takes them all the same\n"},
		{"23007", "NCCL", "ncclSignal=4", "put: NCCL does not do this: invalid argument: One sided RMA: host RMA is not supported in this communicator.\n"},
		{"23007", "NCCL", "ncclSignal=3", "Rendezvous: ncclSignal returned 3: "},
		{"23007", "NCCL", "ncclPutSignal=3", "put: ncclPutSignal returned 3: unhandled error: ncclPutSignal was made to fail\n"},
	} {
		r := fakeNCCL(t, 2, "FAKE_NCCL_VERSION="+c.version, "FAKE_NCCL_FAIL="+c.fail).run(alone, append(args, c.backend)...)
		inOrder(t, fmt.Sprint(c), r.err, c.want)
	}
	r = newHome(t, 2).run(alone)
	if device() == "cpu" {
		inOrder(t, "the cpu device", r.err, "put: NCCL needs the cuda device, this is cpu\n")
	}
}

// TestNCCLEngines: with CopyEngine, NCCL's copy engines run the collectives that they support. They
// use their own communicator with its own windows.
func TestNCCLEngines(t *testing.T) {
	t.Parallel()
	const cells = `t, u := symm.Empty(symm.I32, 2), symm.Empty(symm.I32, 4); symm.Rendezvous(t); symm.Rendezvous(u); t.CopyFrom([]int{symm.Rank(), 7})
v, e := symm.Via("NCCL"), symm.CopyEngine()
symm.Explain(func() { symm.AllGatherOut(t, u, v, e) })
u.Ints()
w := symm.Empty(symm.I32, 4); symm.Rendezvous(w); symm.AllToAllOut(u, w, v, e); w.Ints()
symm.AllGather(t, v, e)
symm.AllReduce(t, "sum", v, e)
t.Free()
if symm.Rank() == 0 { symm.AllToAllOut(u, w, v, e); symm.Synchronize() } else { panic("no") }
symm.AllToAllOut(u, w, v, e); w.Ints()[1]
`
	log := filepath.Join(t.TempDir(), "windows")
	args := []string{"-n", "2", "--device", "cuda", "--backend", "NCCL"}
	r := fakeNCCL(t, 2, "FAKE_NCCL_VERSION=23007", "FAKE_NCCL_WINDOWS="+log).run(cells, args...)
	inOrder(t, "the output", r.out, `[0,1] "all_gather i32[2] on world (2 ranks, 8 bytes): NCCL 2.30.7 by copy engines, because the call asks for it by Via"`+"\n",
		"[0,1] []int{0, 7, 1, 7}\n", "[0] []int{0, 7, 0, 7}\n[1] []int{1, 7, 1, 7}\n", "[0,1] 7\n")
	inOrder(t, "the errors", r.err, "cell[6]:1:1: all_gather: NCCL does not do this: its copy engines need tensors that the group has rendezvoused, and one for the result\n",
		"cell[7]:1:1: all_reduce: CopyEngine is an option of ReduceScatter, AllGather and AllToAll\n", "for NCCL, and gave up: rank 1 failed: panic: no")
	windows, _ := os.ReadFile(log)
	const want = `0 of 2 registers 2097152 window 1
0 of 2 registers 2097152 window 2
0 of 2 without CTAs registers 2097152 window 1
0 of 2 without CTAs registers 2097152 window 2
0 of 2 registers 2097152 window 3
0 of 2 without CTAs registers 2097152 window 3
0 of 2 ends 0 window 1
0 of 2 without CTAs ends 0 window 1
0 of 2 without CTAs registers 2097152 window 1
0 of 2 without CTAs registers 2097152 window 2
`
	if said := regexp.MustCompile("(?m)^1 of 2 .*\n").ReplaceAllString(string(windows), ""); said != want {
		t.Errorf("rank 0's windows:\n%s, want\n%s", said, want)
	}
	for _, c := range []struct{ version, backend, why string }{
		{"22809", "NCCL", "kernels of NCCL 2.28.9 on windows cannot be aborted; those of 2.29.7 and later can"},
		{"23007", "CUDA", "the back end is CUDA, and only tensors of the back end NCCL are windows"},
	} {
		r = fakeNCCL(t, 2, "FAKE_NCCL_VERSION="+c.version).run(cells, append(args[:5:5], c.backend)...)
		inOrder(t, "the errors", r.err, "all_gather: NCCL does not do this: its copy engines need windows: "+c.why+"\n")
	}
}

// withHeaders puts headers of a version of NCCL beside the fake NCCL and gives the fake NCCL the
// same version.
func (h home) withHeaders(version string) home {
	for _, v := range h.env {
		library, ok := strings.CutPrefix(v, "SYMMREPL_NCCL=")
		if !ok {
			continue
		}
		dir := filepath.Join(filepath.Dir(filepath.Dir(library)), "include")
		for name, text := range map[string]string{
			"nccl.h":                "#define NCCL_VERSION_CODE " + version + "\n",
			"nccl_device/utility.h": "#pragma once\ntypedef struct window* ncclWindow_t;\nstruct ncclDevComm { int rank[4]; long long words[29]; };\n",
			"nccl_device.h":         "#pragma once\n#include \"nccl_device/utility.h\"\n#define OWN 1\n",
		} {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				h.t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				h.t.Fatal(err)
			}
		}
	}
	h.env = append(h.env, "FAKE_NCCL_VERSION="+version)
	return h
}

// TestNCCLOwnHeaders: with the back end NCCL a kernel that uses pointers and barriers is compiled
// with NCCL's header. It receives NCCL's own windows and device communicators.
func TestNCCLOwnHeaders(t *testing.T) {
	t.Parallel()
	if os.Getenv("SYMMREPL_NVRTC") == "" {
		t.Skip("needs NVRTC to compile kernels: SYMMREPL_NVRTC is not set")
	}
	const kernel = "const text = `#include <nccl_device.h>\n" +
		`extern "C" __global__ void record_comm(unsigned long long* out, int n, ncclWindow_t w, ncclDevComm comm) { *out = OWN; }` + "`\n"
	const cells = kernel + `x := symm.Empty(symm.F32, 4096); w := symm.Window(x)
dc := symm.DevComm(symm.DevReqs{LsaBarriers: 3})
out := symm.Local(symm.U64, 64); k := symm.Compile(text)
symm.Explain(func() { k.Launch(symm.Grid(1), symm.Block(32), out, 7, w, dc) })
v := out.Ints(); v[4], v[6], v[7] >> 32, v[8] & 0xffffffff, v[8] >> 32, v[9] & 0xffffffff, v[28] != 0
symm.Window(x.Slice(1024, 4096)); k.Launch(symm.Grid(1), symm.Block(32), out, 7, symm.Window(x.Slice(1024, 4096)), dc); out.Ints()[6]
k.Launch(symm.Grid(1), symm.Block(32), out, 7, symm.Window(x.Slice(1, 4)), dc)
dc.Free()
k.Launch(symm.Grid(1), symm.Block(32), out, 7, w, dc)
dc = symm.DevComm(symm.DevReqs{LsaBarriers: 5})
if symm.Rank() == 0 { symm.AllReduce(x, "sum", symm.Via("NCCL")); symm.Synchronize() } else { panic("no") }
symm.Capture(func() { k.Launch(symm.Grid(1), symm.Block(32), out, 7, w, dc) })
k.Launch(symm.Grid(1), symm.Block(32), out, 7, w, dc); v = out.Ints(); v[6], v[9] & 0xffffffff
`
	log := filepath.Join(t.TempDir(), "made")
	h := fakeNCCL(t, 2, "FAKE_NCCL_WINDOWS="+log).withHeaders("23203")
	r := h.run(cells, "-n", "2", "--device", "cuda", "--backend", "NCCL")
	inOrder(t, "the output", r.out, `[0,1] "record_comm on world (2 ranks, 16384 bytes): NCCL 2.32.3's nccl_device.h, because the back end is NCCL"`+"\n",
		", 2, 23203, 0, 2, 3, true\n", ", 2, 23203, 1, 2, 3, true\n", "[0,1] 4\n", "[0,1] 2, 5\n")
	inOrder(t, "the errors", r.err, "cell[8]:1:1: record_comm: windows of NCCL begin at a multiple of 4096 bytes, the tensor begins at byte 4\n", "cell[10]:1:1: record_comm: the tensor u8[0] was freed\n",
		"for NCCL, and gave up: rank 1 failed: panic: no\n",
		"cell[13]:1:23: record_comm: world has no communicator of NCCL yet, and none can be made while a graph is captured\n",
		"hint: launch the kernel once before the capture\n")
	made, _ := os.ReadFile(log)
	const want = `0 of 2 registers 2097152 window 1
0 of 2 registers 16384 window 2
0 of 2 registers 2097152 window 3
0 of 2 makes a communicator for kernels 3 window 0
0 of 2 registers 12288 window 4
0 of 2 ends a communicator for kernels 3 window 0
0 of 2 ends 0 window 3
0 of 2 registers 2097152 window 5
0 of 2 makes a communicator for kernels 5 window 0
0 of 2 registers 2097152 window 1
0 of 2 registers 16384 window 2
0 of 2 registers 12288 window 3
0 of 2 registers 2097152 window 4
0 of 2 makes a communicator for kernels 5 window 0
`
	if said := regexp.MustCompile("(?m)^1 of 2 .*\n").ReplaceAllString(string(made), ""); said != want {
		t.Errorf("rank 0 made\n%s, want\n%s", said, want)
	}
	inOrder(t, "doctor", h.run("", "doctor").out,
		"nccl_device.h is symmrepl's; with the back end NCCL, for kernels of barriers and pointers of one host, that of NCCL 2.32.3 in /", "NCCL: 2.32.3, with collectives, windows, device headers, device API, puts\n")

	for _, c := range []struct{ version, body, args, why string }{
		{"22809", "", "--backend NCCL", "kernels of NCCL 2.28.9 on windows cannot be aborted; those of 2.29.7 and later can"},
		{"23205", "", "--backend NCCL", "the structures of NCCL 2.32.5 that kernels use are not known"},
		{"23203", "ncclGin gin{comm, 0}; /* ncclLLA2ASession */", "--backend NCCL",
			"it uses ncclGin, and with NCCL's own kernels have the barriers and pointers of the LSA team"},
		{"23203", "ncclTeamInnerFactor(ncclTeamLsa(comm), 2); ncclLsaBarrierSession<ncclCoopCta>* bar;", "--backend NCCL",
			"it uses ncclTeamInnerFactor, and NCCL's own has the barriers of the whole LSA team alone"},
		{"23203", "ncclCoopCta cta;", "--backend NCCL", "NCCL 2.32.3's does not take it: identifier \\\"ncclCoopCta\\\" is undefined"},
		{"23203", "", "--backend NCCL --hosts 2 --net null", "the world spans hosts"},
		{"23203", "", "", ""},
	} {
		cells := "const text = `#include <nccl_device.h>\n" +
			`extern "C" __global__ void record_comm(unsigned long long* out, int n, ncclWindow_t w, ncclDevComm comm) { ` + c.body + " }`" + `
x := symm.Empty(symm.F32, 4096); w := symm.Window(x); dc := symm.DevComm(symm.DevReqs{LsaBarriers: 1}); out := symm.Local(symm.U64, 256); k := symm.Compile(text)
symm.Explain(func() { k.Launch(symm.Grid(1), symm.Block(32), out, 7, w, dc) })
`
		h := fakeNCCL(t, 2, fmt.Sprintf("FAKE_CUDA_COMM=%d", unsafe.Sizeof(abi.NcclDevComm{}))).withHeaders(c.version)
		r := h.run(cells, append([]string{"-n", "2", "--device", "cuda"}, strings.Fields(c.args)...)...)
		want := `[0,1] "record_comm on world (2 ranks, 16384 bytes): symmrepl's nccl_device.h, because ` + c.why + "\"\n"
		if c.why == "" {
			want = `[0,1] ""` + "\n"
		}
		if !strings.HasPrefix(r.out, want) {
			t.Errorf("%s, %s: the output lacks %q:\n%s%s", c.version, c.body, want, r.out, r.err)
		}
	}
}

// TestBackends: --backend, SetBackend and TORCH_SYMMMEM choose the back end of symmetric memory.
// They refuse a back end that this machine or build does not have.
func TestBackends(t *testing.T) {
	t.Parallel()
	r := fakeNCCL(t, 2, "SYMMREPL_NVSHMEM=/nowhere").run(`symm.GetBackend()
if symm.Rank() == 0 { symm.SetBackend("NCCL") } else { symm.SetBackend("CUDA") }
symm.SetBackend("NVSHMEM")
symm.SetBackend("CPU")
symm.SetBackend("NCCL"); symm.GetBackend()
t := symm.Empty(symm.F32, 2)
symm.SetBackend("NCCL")
symm.SetBackend("CUDA")
symm.Backends()[1]
`, "-n", "2", "--device", "cuda")
	inOrder(t, "the output", r.out, "[0,1] \"CUDA\"\n[0,1] \"NCCL\"\n", "2.28.9")
	inOrder(t, "the errors", r.err, "[0] cell[2]:1:23: SetBackend: the ranks made different collective calls: rank 0: SetBackend NCCL; rank 1: SetBackend CUDA\n",
		"[0,1] cell[3]:1:1: SetBackend: the back end NVSHMEM cannot be used: NVSHMEM was not found: SYMMREPL_NVSHMEM is /nowhere, which has no NVSHMEM\n", "hint: set it to libnvshmem_host.so.3 or its folder, or unset it\n",
		"SetBackend: the back end CPU needs the cpu device, this is cuda:", "hint: use CUDA, NCCL or NVSHMEM, or start with --device cpu\n",
		"[0,1] cell[8]:1:1: SetBackend: symmetric memory was made by NCCL already\n",
		"hint: start with --backend CUDA, or call it first in a session\n")
	if strings.Contains(r.err, "cell[7]") {
		t.Errorf("SetBackend refuses the back end in use:\n%s", r.err)
	}

	for _, c := range []struct{ env, args, out, err string }{
		{"", "--device cuda --backend NCCL", "[0,1] \"NCCL\"\n", ""},
		{"TORCH_SYMMMEM=NCCL", "--device cuda", "[0,1] \"NCCL\"\n", ""},
		{"TORCH_SYMMMEM=NCCL", "--device cuda --backend CUDA", "[0,1] \"CUDA\"\n", ""},
		{"TORCH_SYMMMEM=NCCL", "--device cpu", "[0,1] \"CPU\"\n", ""},
		{"TORCH_SYMMMEM=NVSHMEM SYMMREPL_NVSHMEM=/nowhere", "--device cuda", "",
			"symmrepl: Init: the back end NVSHMEM cannot be used: NVSHMEM was not found: SYMMREPL_NVSHMEM is /nowhere, which has no NVSHMEM; TORCH_SYMMMEM asks for it (set it to libnvshmem_host.so.3 or its folder, or unset it, or unset TORCH_SYMMMEM)\n"},
		{"FAKE_NCCL_VERSION=23301", "--device cuda --backend NCCL", "",
			": version 2.33.1 is newer than 2.32, the newest that is known (`pip install nvidia-nccl-cu13`, or set SYMMREPL_NCCL to another library, or leave --backend out)\n"},
	} {
		r := fakeNCCL(t, 2, strings.Fields(c.env)...).run("", append(strings.Fields(c.args), "-n", "2", "-e", "symm.GetBackend()")...)
		if r.out != c.out || !strings.HasSuffix(r.err, c.err) || (r.status == 0) != (c.err == "") {
			t.Errorf("%s %s: %+v", c.env, c.args, r)
		}
	}
	ignores := fakeNCCL(t, 2, "TORCH_SYMMMEM=NCCL", "NCCL_RAS_ENABLE=0").run("", "--device", "cpu", "-n", "2", "-e", "symm.GetBackend()")
	inOrder(t, "on the cpu device", ignores.err, "TORCH_SYMMMEM=NCCL, NCCL_RAS_ENABLE=0: for GPUs, without effect on the cpu device ")
	said := fakeNCCL(t, 2, "SYMMREPL_NVSHMEM=/nowhere").run("", "doctor").out
	inOrder(t, "doctor", said, "ranks     run on 2 GPUs\n", "NCCL       2.28.9, ",
		"back end   CUDA: yes\nback end   NCCL: 2.28.9, with collectives, device API\nback end   NVSHMEM: no, NVSHMEM was not found: SYMMREPL_NVSHMEM is /nowhere, which has no NVSHMEM (set it to libnvshmem_host.so.3 or its folder, or unset it)\nback end   CPU: yes\n")
}
