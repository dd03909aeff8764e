package foreign

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/session"
)

// pythonCommand returns a command of Python that imports the stubs of PyTorch and of cuda.bindings.
func pythonCommand(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	name := os.Getenv("SYMMREPL_JUPYTER")
	if name == "" {
		var err error
		if name, err = exec.LookPath("python3"); err != nil {
			t.Skip("there is no Python")
		}
	}
	stub, err := filepath.Abs("testdata/stub")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+stub, "PYTHONDONTWRITEBYTECODE=1", "PYTHONWARNINGS=error", "RANK=1", "WORLD_SIZE=3", "LOCAL_RANK=0")
	return cmd
}

// written writes a module to a folder.
func written(t *testing.T, name string, cells []session.Cell) (folder string) {
	t.Helper()
	files, err := Python(name, cells, 4)
	if err != nil {
		t.Fatal(err)
	}
	folder = t.TempDir()
	for name, text := range files {
		name = filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// launch is a launch that the stub of the driver has printed.
type launch struct {
	Kernel      string
	Grid, Block [3]int
	Shared      int
	Args        []string
}

// hostPart runs the host part of a module as rank 1 of 3, and returns its launches and the other
// lines that it printed.
func hostPart(t *testing.T, folder, module string, flags ...string) (launches []launch, lines []string) {
	t.Helper()
	cmd := pythonCommand(t, append([]string{"testdata/stub/host_part.py", folder, module}, flags...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil && (len(flags) == 0 || stderr.Len() > 0) {
		t.Fatalf("%s: %v\n%s%s", module, err, out, &stderr)
	}
	for scan := bufio.NewScanner(bytes.NewReader(out)); scan.Scan(); {
		text, is := strings.CutPrefix(scan.Text(), "LAUNCH ")
		if !is {
			lines = append(lines, scan.Text())
			continue
		}
		var l launch
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		launches = append(launches, l)
	}
	return launches, lines
}

// TestHostPart runs the host parts of the examples.
func TestHostPart(t *testing.T) {
	for name, want := range map[string][]string{
		"all_reduce":     {"sum 1x32", "sum 1x128", "sum 1x128", "sum 1x128"},
		"ring":           {"barrier 1x128", "ring 1x256", "barrier 1x128", "put_with_signal 1x512", "wait_for_signal 1x1"},
		"reduce_scatter": {"reduce_scatter<4> 8x256"},
	} {
		folder := written(t, name+".py", cellsOf(t, filepath.Join("testdata", name+".cells")))
		var got []string
		launches, _ := hostPart(t, folder, name)
		for _, l := range launches {
			got = append(got, l.Kernel+" "+itoa(l.Grid[0])+"x"+itoa(l.Block[0]))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s launches %q, want %q", name, got, want)
		}
	}
}

// TestCheck runs the host part of a test. No kernel runs, so that the test finds every handle
// wrong, and says so.
func TestCheck(t *testing.T) {
	folder := written(t, "k.py", []session.Cell{{ID: 1, Source: "h := symm.Rendezvous(symm.Empty(symm.U8, 7).Fill(1))\ntrue"}, {ID: 2, Source: "1 > 2"}})
	launches, lines := hostPart(t, folder, "k", "--test")
	want := []string{
		"[1] WRONG: the handle of a tensor of 7 bytes: the copy of rank 0", "[1] WRONG: the handle of a tensor of 7 bytes: the copy of rank 1",
		"[1] WRONG: the handle of a tensor of 7 bytes: the copy of rank 2", "[1] True", "[1] WRONG: a cell ends with False", "[1] False",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("printed %q, want %q", lines, want)
	}
	var kernels []string
	for _, l := range launches {
		kernels = append(kernels, l.Kernel)
	}
	if want := []string{"barrier", "get", "get", "get", "barrier", "put_signal", "wait_signal", "barrier"}; !slices.Equal(kernels, want) {
		t.Errorf("launched %q, want %q", kernels, want)
	}
}

// TestCompiles compiles the kernels of the examples, and the operations of symm_torch.py, by NVRTC,
// which needs no GPU.
func TestCompiles(t *testing.T) {
	where := os.Getenv("SYMMREPL_NVRTC")
	found, _ := filepath.Glob(filepath.Join(where, "libnvrtc.so.*"))
	if where == "" || len(found) == 0 {
		t.Skip("SYMMREPL_NVRTC names no folder with NVRTC")
	}
	const program = `
import sys
sys.path.insert(0, sys.argv[1])
import k, symm_torch as symm
for source in [v for v in vars(k).values() if isinstance(v, symm.Source)] + [symm._operations]:
    print([k.name for k in source.kernels], sorted(n.decode() for n in source.compile("sm_90")[1].values()))
`
	cells := append(cellsOf(t, "testdata/ring.cells")[1:2], cellsOf(t, "testdata/reduce_scatter.cells")[:2]...)
	cells = append(cells, session.Cell{ID: 9, Source: "both := symm.Compile(`#include <cuda_fp16.h>\n#include <stdio.h>\n#include <cooperative_groups.h>\n" +
		"__device__ int shared;\nnamespace my { __global__ void first(half* x) { x[0] = __float2half(1); shared = 1; } }\n" +
		"extern \"C\" __global__ void second(uint64_t n, const symm::Handle h) { if (shared) printf(\"%d\", (int)n); }`)"})
	cells = append(cells[1:], session.Cell{ID: 10, Source: "symm.Compile(`\n__global__ void ring(symm::Handle h) { symm::barrier(h, 1); }`)"})
	cmd := pythonCommand(t, "-c", program, written(t, "k.py", cells))
	cmd.Env = append(cmd.Env, "SYMM_STUB_NVRTC="+found[0], "LD_LIBRARY_PATH="+where)
	out, err := cmd.CombinedOutput()
	want := `['reduce_scatter<4>'] ['_Z14reduce_scatterILi4EEvN4symm6HandleEPNS0_4bf16Ej']
['my::first', 'second'] ['_ZN2my5firstEP6__half', 'second']
['ring'] ['_Z4ringN4symm6HandleE']
['barrier', 'put_signal', 'wait_signal', 'put_with_signal', 'signal_add', 'wait_for_signal', 'get'] ['barrier', 'get', 'put_signal', 'put_with_signal', 'signal_add', 'wait_for_signal', 'wait_signal']
`
	if err != nil || string(out) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, out, want)
	}
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

// TestHandle compares the bytes of a symm::Handle that a launch copies with what the stand-in for
// PyTorch's handle had.
func TestHandle(t *testing.T) {
	folder := written(t, "k.py", []session.Cell{
		{ID: 1, Source: "x := symm.Empty(symm.F32, 6, 4)\nh := symm.Rendezvous(x)\npart := x.Slice(2, 5)\nhPart := symm.Rendezvous(part)"},
		{ID: 2, Source: "k := symm.Compile(`__global__ void k(symm::Handle h, const float* x, symm::Handle part, float* y, short n, half z, double d, bool b) {}`)\n" +
			"k.Launch(symm.Grid(2, 3, 4), symm.Block(5, 6), h, x, hPart, part, -2, 1.5, 0.25, true, symm.Timeout(2*time.Second), symm.SharedBytes(1000))"},
	})
	launches, _ := hostPart(t, folder, "k")
	if len(launches) != 1 {
		t.Fatalf("%d launches", len(launches))
	}
	l := launches[0]
	if l.Kernel != "k" || l.Grid != [3]int{2, 3, 4} || l.Block != [3]int{5, 6, 1} || l.Shared != 1000 {
		t.Errorf("launched %+v", l)
	}
	var args [][]byte
	for _, a := range l.Args {
		b, err := hex.DecodeString(a)
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, b)
	}
	for i, want := range map[int]string{4: "feff", 5: "003e", 6: "000000000000d03f", 7: "01"} {
		if l.Args[i] != want {
			t.Errorf("argument %d is %s, want %s", i, l.Args[i], want)
		}
	}
	const apart = 1 << 40
	var signals abi.Ptr
	for i, bytes := range []uint64{6 * 4 * 4, 3 * 4 * 4} {
		var h abi.Handle
		if got := len(args[2*i]); got != int(unsafe.Sizeof(h)) {
			t.Fatalf("a handle has %d bytes, want %d", got, unsafe.Sizeof(h))
		}
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&h)), unsafe.Sizeof(h)), args[2*i])
		watch, pads := h.Watch, h.Pads[1]
		if i == 0 {
			signals = h.Signals.Block[1]
		}
		want := abi.Handle{
			Context: abi.Context{Watch: watch, TimeoutNs: 2e9, Rank: 1, WorldSize: 3, Ordinal: uint32(i + 1), Channels: 64},
			Bytes:   bytes, PadBytes: 9216,
		}
		data := *(*abi.Ptr)(unsafe.Pointer(&args[2*i+1][0]))
		for p := range 3 {
			away := abi.Ptr(p*apart) - apart
			want.Buffers[p], want.Pads[p], want.Signals.Block[p] = data+away, pads+away, signals+away
		}
		if h != want {
			t.Errorf("handle %d is %+v, want %+v", i, h, want)
		}
		if watch == 0 || pads == 0 || signals == 0 || pads == signals {
			t.Errorf("watch %#x, pads %#x, signals %#x", watch, pads, signals)
		}
	}
}

// TestRuntime compares the layouts of symm_torch.py with those of package abi.
func TestRuntime(t *testing.T) {
	const program = `
import symm_torch as s
def offsets(c): return [getattr(c, name).offset for name, _ in c._fields_]
print(s.ABI_VERSION, s.MAX_RANKS, s.COUNTERS, s.WATCH_BYTES, s.FAULT_AT, offsets(s.Context), offsets(s.HandleStruct), offsets(s.WaitRecord))
print(s.quotient(-7, 2), s.remainder(-7, 2), s.quotient(7, -2), s.remainder(7, 2))
import torch
from cuda.bindings import driver
driver.abi = [2, 40, 1816, 72]
try: s._barrier.launch((1,), (1,), s.rendezvous(s.empty(torch.int32, 4)), 0)
except RuntimeError as e: print(e)
print(s.values(s.rand(s.local(torch.float32, 3), 1)), s.values(s.rand(s.local(torch.int32, 4), 42)))
`
	cmd := pythonCommand(t, "-c", "import sys; sys.path.insert(0, sys.argv[1])\n"+program, written(t, "k.py", nil))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	// The last line is what symm.Local(symm.F32, 3).Rand(1) and symm.Local(symm.I32, 4).Rand(42)
	// are in a session.
	want := "1 72 64 5248 64 [0, 8, 16, 20, 24, 28, 32, 36] [0, 40, 48, 56, 632, 1208, 1784, 1792, 1800, 1804] [0, 4, 8, 12, 16, 20, 24, 32, 40, 48, 56]\n" +
		"-3 -1 -3 1\n" +
		"symm_operations.cu was compiled with version and sizes [2, 40, 1816, 72] of symm::Handle, symm_torch.py has [1, 40, 1808, 72]: export them again, together\n" +
		"[0.5665615200996399, 0.7457817196846008, 0.9710026979446411] [94, 20, 35, 44]\n"
	if string(out) != want {
		t.Errorf("printed %s, want %s", out, want)
	}
}

// TestSyntax parses the modules, and has them checked by pyflakes if there is one.
func TestSyntax(t *testing.T) {
	files := []string{"runtime/symm_torch.py"}
	modules, _ := filepath.Glob("testdata/*.py")
	files = append(files, modules...)
	program := "import ast, sys\nfor f in sys.argv[1:]: ast.parse(open(f).read(), f)"
	if out, err := pythonCommand(t, append([]string{"-W", "error", "-c", program}, files...)...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if pythonCommand(t, "-c", "import pyflakes").Run() != nil {
		return
	}
	if out, err := pythonCommand(t, append([]string{"-m", "pyflakes"}, files...)...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// constructs is the output of testdata/constructs.cells in a session.
var constructs = []string{
	"sum 223", "610 -3 -1 5", "4 25 4 1.5 bc 1", "high middle low 20 0.67    42|", "1748694682 4 9223372036854775813 1 -4 true true", "11 7 3 true",
	"some 13", "1099511627776 8 137438953472",
}

// TestConstructs runs Go in Python that needs no device.
func TestConstructs(t *testing.T) {
	_, lines := hostPart(t, written(t, "k.py", cellsOf(t, "testdata/constructs.cells")), "k")
	for i, want := range constructs {
		want = "[1] " + strings.NewReplacer("true", "True", "false", "False").Replace(want)
		if i >= len(lines) || lines[i] != want {
			t.Errorf("line %d of %q is not %q", i, lines, want)
		}
	}
}
