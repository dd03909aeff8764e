package main

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// fakeGPUs returns a home whose programs use the fake driver of the cuda device's tests and see
// this number of GPUs. The fake driver has memory and copies but runs no kernel of symmrepl.
func fakeGPUs(t *testing.T, gpus int, env ...string) home {
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("no C compiler to build the fake driver with")
	}
	if device() != "cpu" {
		t.Skip("needs the fake driver, and this device has a real one")
	}
	h := newHome(t, 0)
	h.env = append([]string{"SYMMREPL_CUDA=" + built(t, "fakecuda.c"), fmt.Sprintf("FAKE_CUDA_DEVICES=%d", gpus)}, env...)
	return h
}

// sharedCells write to the memory of one GPU through several mappings.
const sharedCells = `import "fmt"
t := symm.Empty(symm.I32, 2)
h := symm.Rendezvous(t)
t.CopyFrom([]int{10 + symm.Rank(), 7})
h.GetBuffer((symm.Rank() + 1) % 4, symm.I32, 2).Ints()
fmt.Println(symm.Caps().Device, symm.Caps().Sharing)
:ranks
`

// inOrder checks that a text contains these parts in this order.
func inOrder(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	rest := text
	for _, p := range parts {
		_, after, ok := strings.Cut(rest, p)
		if !ok {
			t.Errorf("%s: %q is missing or out of order in\n%s", what, p, text)
			return
		}
		rest = after
	}
}

// TestSharedGPU starts more ranks than there are GPUs. The ranks share memory, and the session says
// what sharing a GPU means.
func TestSharedGPU(t *testing.T) {
	t.Parallel()
	ring := []string{"[0] []int{11, 7}\n", "[1] []int{12, 7}\n", "[2] []int{13, 7}\n", "[3] []int{10, 7}\n"}
	for _, c := range []struct {
		name string
		gpus int
		env  string
		args string
		note string
		says []string
	}{
		{"one GPU", 1, "", "-n 4", "symmrepl: ranks 0,1,2,3 share a GPU, in turns by time slices: 4 kernels that wait for each other meet in about 6 ms; results are right, times are not comparable\n",
			[]string{"cuda:0 ranks 0,1,2,3 share a GPU, in turns by time slices", "cuda:0 with 1-3\n", "cuda:0 with 0,2,3\n",
				"cuda:0 with 0,1,3\n", "cuda:0 with 0-2\n"}},
		{"two GPUs", 2, "", "-n 4 --device cuda",
			"symmrepl: ranks 0,1 and 2,3 share a GPU each, in turns by time slices: 2 kernels that wait for each other meet in about 2 ms; results are right, times are not comparable\n",
			[]string{"[0,1] cuda:0 ranks 0,1 and 2,3 share a GPU each", "[2,3] cuda:1 ranks 0,1 and 2,3 share a GPU each",
				"cuda:0 with 1\n", "cuda:0 with 0\n", "cuda:1 with 3\n", "cuda:1 with 2\n"}},
		{"MPS", 1, "FAKE_CUDA_MPS=1", "-n 4",
			"symmrepl: ranks 0,1,2,3 share a GPU, side by side under MPS: each rank uses its part of the multiprocessors; results are right, times are not comparable\n",
			[]string{"cuda:0 ranks 0,1,2,3 share a GPU, side by side under MPS"}},
		{"four GPUs", 4, "", "-n 4", "", []string{"[0] cuda:0 \n", "cuda:0\n", "cuda:1\n", "cuda:2\n", "cuda:3\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := fakeGPUs(t, c.gpus, strings.Fields(c.env)...).run(sharedCells, strings.Fields(c.args)...)
			if r.status != 0 || r.err != c.note {
				t.Errorf("status %d, stderr %q, want %q", r.status, r.err, c.note)
			}
			inOrder(t, "the output", r.out, append(ring, c.says...)...)
		})
	}
}

// TestCompilerKilled kills ranks while NVRTC, which starts beside them, writes its precompiled headers: no
// file is left.
func TestCompilerKilled(t *testing.T) {
	t.Parallel()
	h := fakeGPUs(t, 1)
	for _, wait := range []string{"0", "20"} {
		r := h.run("", "-n", "2", "--device", "cuda", "-e",
			"import \"syscall\"; time.Sleep("+wait+"*time.Millisecond); syscall.Kill(syscall.Getpid(), syscall.SIGKILL)")
		if r.status == 0 || !strings.Contains(r.err, "killed") {
			t.Errorf("%+v", r)
		}
		h.expectNothingLeft()
	}
}

// TestRanksOfGPUs: without -n a session has one rank for each GPU.
func TestRanksOfGPUs(t *testing.T) {
	t.Parallel()
	if r := fakeGPUs(t, 3).run("", "-e", "symm.WorldSize(), symm.Caps().Device"); r.status != 0 || r.err != "" ||
		r.out != "[0] 3, \"cuda:0\"\n[1] 3, \"cuda:1\"\n[2] 3, \"cuda:2\"\n" {
		t.Errorf("%+v", r)
	}
}

// TestSharedUnderLauncher: the same rule of sharing holds for ranks that torchrun starts.
func TestSharedUnderLauncher(t *testing.T) {
	t.Parallel()
	h := fakeGPUs(t, 1)
	h.env = append(h.env, "WORLD_SIZE=2", "LOCAL_WORLD_SIZE=2", "MASTER_ADDR=127.0.0.1", fmt.Sprintf("MASTER_PORT=%d", freePort(t)),
		"TORCHELASTIC_RUN_ID=none")
	other := h.command("-e", "symm.Caps().Device")
	other.Env = append(other.Env, "RANK=1", "LOCAL_RANK=1")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer other.Wait()
	h.env = append(h.env, "RANK=0", "LOCAL_RANK=0")
	r := h.run("", "-e", "symm.Caps().Device")
	if r.status != 0 || r.out != "[0,1] \"cuda:0\"\n" ||
		!strings.HasPrefix(r.err, "symmrepl: ranks 0,1 share a GPU, in turns by time slices: ") {
		t.Errorf("%+v", r)
	}
}

// TestGPUsApart: if some GPUs of one machine cannot map each other's memory, the ranks form several
// LSA teams, and a network connects the teams.
func TestGPUsApart(t *testing.T) {
	t.Parallel()
	cells := sharedCells[:strings.Index(sharedCells, "h.GetBuffer")] + `symm.LSA(), symm.Rail()
h.GetBuffer(symm.Rank()^1, symm.I32, 2).Ints()
symm.Caps().Hosts, symm.Caps().Parts
h.GetBuffer((symm.Rank()+2)%4, symm.I32, 2)
`
	for _, network := range []string{"null", "none"} {
		r := fakeGPUs(t, 4, "FAKE_CUDA_ISLANDS=2").run(cells, "-n", "4", "--net", network)
		inOrder(t, "the output over "+network, r.out+r.err, "[0] LSA team 0,1, rail 0,2\n", "[1] LSA team 0,1, rail 1,3\n",
			"[2] LSA team 2,3, rail 0,2\n", "[3] LSA team 2,3, rail 1,3\n",
			"[0] []int{11, 7}\n", "[1] []int{10, 7}\n", "[2] []int{13, 7}\n", "[3] []int{12, 7}\n",
			"[0-3] [][]int{[]int{0, 1, 2, 3}}, [][]int{[]int{0, 1}, []int{2, 3}}\n",
			"rank 2,3 has a GPU whose memory the GPU of rank 0,1 cannot map, and world has no pointer to its memory")
	}
	r := fakeGPUs(t, 2, "FAKE_CUDA_ISLANDS=1").run("", "-n", "2", "-e", "symm.Rank()", "--net", "null")
	if r.status != 0 || r.out != "[0] 0\n[1] 1\n" {
		t.Errorf("two GPUs that are apart: %+v", r)
	}
	if said := fakeGPUs(t, 2, "FAKE_CUDA_ISLANDS=1").run("", "doctor"); !strings.Contains(said.out,
		"GPU 0 cannot map the memory of GPU 1: their ranks are in different LSA teams, and the network carries between them\n") {
		t.Errorf("doctor says\n%s", said.out)
	}
}
