package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/internal/pace"
)

// TestTimeLimit: --timeout ends a script that hangs, whatever it hangs in. The error has a table of
// what the ranks wait for, and the status is 1.
func TestTimeLimit(t *testing.T) {
	t.Parallel()
	h := newHome(t, 1)
	h.cwd = t.TempDir()
	limit := min(pace.Unhurried(2*time.Second).Round(time.Second), 10*time.Second).String()
	const kernels = "k := symm.Compile(`extern \"C\" __global__ void spin(volatile int* x) {\n\twhile (x[3] == 0) {}\n}\n" +
		"extern \"C\" __global__ void poll(unsigned* x, int i) {\n\twhile (atomicAdd(x + i, 0u) == 0) __nanosleep(100);\n}\n" +
		"extern \"C\" __global__ void work(float* x, int n) {\n\tfor (long long i = 0; i < 1ll << 50; i++) x[i % n] = x[i % n] * 0.5f + 1;\n}`)\n// %%\n"
	if r := h.run("", "run", h.script("compiled.go", kernels), "-n", "2", "--device", "cpu"); r.status != 0 { // so that the limit is not for compiling
		t.Fatalf("%+v", r)
	}
	for _, c := range []struct {
		name, script string
		want         []string // parts of standard error, in this order
	}{
		{"spin", kernels + "x := symm.Empty(symm.I32, 8)\n// %%\nk.Launch(symm.Grid(1), symm.Block(64), x)\nsymm.Synchronize()\n", []string{
			"[0,1] spin.go:13 has run for ", " s and is ended, as the limit of " + limit + " is over:\n[0,1]   rank 0,1  waits in symm.Synchronize ",
			" at spin.go:14; busy in kernel spin, launched at spin.go:13: it reads nothing but element 3 of i32[8], which is 0, at spin.go:2, in 64 threads, for ",
			"] spin.go:2: kernel spin, block [0 0 0], thread [", ": interrupted, launched at spin.go:13\n"}},
		{"poll", kernels + "x := symm.Local(symm.U32, 8)\n// %%\nk.Kernel(\"poll\").Launch(symm.Grid(1), symm.Block(1), x, symm.Rank())\ntime.Sleep(time.Hour)\n", []string{
			"is ended, as the limit of " + limit + " is over:\n",
			"rank 0  waits in time.Sleep at poll.go:14; busy in kernel poll, launched at poll.go:13: it reads nothing but element 0 of u32[8], which is 0, at poll.go:5, for ",
			"rank 1  waits in time.Sleep at poll.go:14; busy in kernel poll, launched at poll.go:13: it reads nothing but element 1 of u32[8], which is 0, at poll.go:5, for "}},
		{"work", kernels + "k.Kernel(\"work\").Launch(symm.Grid(1), symm.Block(1), symm.Local(symm.F32, 100), 100); symm.Synchronize()\n",
			[]string{
				"is ended, as the limit of " + limit + " is over:\n", "waits in symm.Synchronize",
				" at work.go:11; busy in kernel work, launched at work.go:11, for "}},
		{"host", "x := 1\n// %%\nif symm.Rank() == 0 { symm.Rendezvous(symm.Empty(symm.F32, 1)) } else { for { x++ } }\n", []string{
			"[0,1] host.go:3 has run for ", "is ended, as the limit of " + limit + " is over:\n", "rank 0  waits in Empty ",
			"rank 1  runs, at or after host.go:3\n", "rank 0 came ", "rank 1 did not\n",
			"[0] host.go:3:23: Empty: gave up waiting for the other ranks: the limit of " + limit + " is over\n", "[1] host.go:3:",
			": interrupted\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if err := os.WriteFile(filepath.Join(h.cwd, c.name+".go"), []byte(c.script), 0o600); err != nil {
				t.Fatal(err)
			}
			r := h.run("", "run", c.name+".go", "-n", "2", "--device", "cpu", "--timeout", limit)
			if r.status != 1 {
				t.Errorf("status %d", r.status)
			}
			inOrder(t, "what it says", r.err, c.want...)
		})
	}
	if r := h.run("", "-n", "2", "--device", "cpu", "--timeout", "1m", "-e", "symm.Rank()"); r.status != 0 || r.out != "[0] 0\n[1] 1\n" {
		t.Errorf("a fast cell: %+v", r)
	}
	if r := h.run("", "-n", "1", "--device", "cpu", "--timeout", "1s", "-e", "for {}"); r.status != 1 {
		t.Errorf("an endless cell: %+v", r)
	}
}
