package tensorfile

import (
	"archive/zip"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/element"
)

// theirs writes files by the Python libraries. Element i of a tensor has the bytes of i, counted up
// over the whole tensor.
const theirs = `
import io, numpy as np, ml_dtypes, safetensors.numpy as sn
types = {"f16": "<f2", "f32": "<f4", "f64": "<f8", "i8": "i1", "u8": "u1", "i32": "<i4", "u32": "<u4", "i64": "<i8", "u64": "<u8",
         "i16": "<i2", "u16": "<u2", "bool": "?", "c64": "<c8", "c128": "<c16",
         "bf16": ml_dtypes.bfloat16, "f8e4m3": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2}
def make(t, *shape):
    t = np.dtype(types[t])
    n = int(np.prod(shape)) * t.itemsize
    return np.frombuffer(bytes(i % (2 if t == bool else 251) for i in range(n)), t).reshape(shape)
for t in types:
    np.save("theirs-" + t + ".npy", make(t, 2, 3))
all = {t: make(t, 2, 3) for t in types}
all["none"], all["ä\"\\\n\x01\u2028<é"], all["scalar"] = make("f32", 0, 3), make("f32", 3), make("i64")
sn.save_file({k: all[k] for k in all if k != "c128"}, "theirs.safetensors")
np.savez("theirs.npz", **{k: all[k] for k in sorted(all) if k.isalnum() and all[k].dtype.kind != "V" and k != "f8e5m2"}, **{"ä": make("u8", 5)})
np.savez_compressed("packed.npz", a=make("f32", 100, 100), b=make("u8", 7))
for i, shape in enumerate([(), (1,), (12345678901,), (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)] + [(1,) * n for n in range(10, 33)]):
    b = io.BytesIO(); np.lib.format.write_array_header_1_0(b, {"descr": "<f4", "fortran_order": False, "shape": shape})
    open("header-%d" % i, "wb").write(b.getvalue())
np.save("fortran.npy", np.asfortranarray(make("f32", 3, 4)))
np.save("bool.npy", np.array([True, False]))
`

// check loads what this package wrote by the Python libraries.
const check = `
for t in types:
    if t != "f8e5m2": # which numpy cannot read
        a = np.load("ours-" + t + ".npy")
        assert a.view(types[t]).tobytes() == make(t, 2, 3).tobytes(), t
import safetensors
b = dict(safetensors.deserialize(open("ours.safetensors", "rb").read()))
assert set(b) == set(all) - {"c128"}, b.keys()
for k in b: assert tuple(b[k]["shape"]) == all[k].shape and bytes(b[k]["data"]) == all[k].tobytes(), k
c = dict(safetensors.deserialize(sn.save({k: all[k] for k in all if k != "c128"})))
assert [c[k]["dtype"] for k in b] == [b[k]["dtype"] for k in b]
z = np.load("ours.npz")
for k in z: assert (z[k] == (all[k] if k in all else make("u8", 5))).all(), k
assert len(z.files) == len(np.load("theirs.npz").files)
`

var names = map[string]element.Type{
	"f16": element.F16, "f32": element.F32, "f64": element.F64, "i8": element.I8, "u8": element.U8, "i32": element.I32, "u32": element.U32, "i64": element.I64,
	"u64": element.U64, "bf16": element.BF16, "f8e4m3": element.F8E4M3, "f8e5m2": element.F8E5M2,
	"i16": element.I16, "u16": element.U16, "bool": element.Bool, "c64": element.C64, "c128": element.C128,
}

// pattern is the bytes of a tensor of the tests.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i % 251)
	}
	return b
}

// patternOf is pattern for a type: the bytes of bool are 0 and 1.
func patternOf(of element.Type, n int) []byte {
	b := pattern(n)
	for i := range b {
		if of == element.Bool {
			b[i] = byte(i % 2)
		}
	}
	return b
}

// TestPython compares what this package and the Python libraries write, byte by byte, and lets each
// read the other's files.
func TestPython(t *testing.T) {
	python := os.Getenv("SYMMREPL_JUPYTER")
	if python == "" {
		t.Skip("SYMMREPL_JUPYTER does not name a Python with numpy, safetensors and ml_dtypes")
	}
	if out, err := exec.Command(python, "-c", "import numpy, safetensors, ml_dtypes").CombinedOutput(); err != nil {
		t.Skipf("%s has not all of numpy, safetensors and ml_dtypes: %s", python, out)
	}
	dir := t.TempDir()
	run := func(code string) {
		t.Helper()
		c := exec.Command(python, "-c", code)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	run(theirs)
	at := func(name string) string { return filepath.Join(dir, name) }
	save := func(name string, list ...*Output) {
		t.Helper()
		w, err := Create(at(name), list)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range list {
			w.At(o).WriteAt(patternOf(o.Type, int(o.bytes)), 0)
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	same := func(ours, theirs string) {
		t.Helper()
		a, err := os.ReadFile(at(ours))
		b, err2 := os.ReadFile(at(theirs))
		if err := cmp.Or(err, err2); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("%s and %s differ:\n%q\n%q", ours, theirs, a, b)
		}
	}
	var all, zipped []*Output
	odd := "ä\"\\\n\x01\u2028<é"
	for _, name := range []string{"bf16", "bool", "c128", "c64", "f16", "f32", "f64", "f8e4m3", "f8e5m2", "i16", "i32", "i64", "i8", "u16", "u32", "u64", "u8"} {
		save("ours-"+name+".npy", &Output{Type: names[name], Shape: []int{2, 3}})
		same("ours-"+name+".npy", "theirs-"+name+".npy")
		if name != "c128" { // which safetensors lacks
			all = append(all, &Output{Name: name, Type: names[name], Shape: []int{2, 3}})
		}
		if name != "bf16" && !strings.HasPrefix(name, "f8") {
			zipped = append(zipped, &Output{Name: name, Type: names[name], Shape: []int{2, 3}})
		}
	}
	all = append(all, &Output{Name: "none", Type: element.F32, Shape: []int{0, 3}},
		&Output{Name: odd, Type: element.F32, Shape: []int{3}}, &Output{Name: "scalar", Type: element.I64})
	save("ours.safetensors", all...)
	same("ours.safetensors", "theirs.safetensors")
	none, scalar := &Output{Name: "none", Type: element.F32, Shape: []int{0, 3}}, &Output{Name: "scalar", Type: element.I64}
	zipped = append(zipped[:len(zipped)-4], append([]*Output{none, scalar}, zipped[len(zipped)-4:]...)...)
	zipped = append(zipped, &Output{Name: "ä", Type: element.U8, Shape: []int{5}})
	save("ours.npz", zipped...)
	sameFiles(t, at("ours.npz"), at("theirs.npz"))
	if out, err := exec.Command(python, "-c", newZip).CombinedOutput(); err == nil {
		same("ours.npz", "theirs.npz")
	} else {
		t.Logf("%s: the archives are compared by their contents only", bytes.TrimSpace(out))
	}
	shapes := [][]int{{}, {1}, {12345678901}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}
	for n := 10; n < 33; n++ {
		shapes = append(shapes, slices.Repeat([]int{1}, n))
	}
	for i, shape := range shapes {
		want, _ := os.ReadFile(at(fmt.Sprintf("header-%d", i)))
		if got := npyHeader(&Output{Type: element.F32, Shape: shape}); !bytes.Equal(got, want) {
			t.Errorf("the header of %v is %q, want %q", shape, got, want)
		}
	}
	run(theirs + check)

	for _, file := range []string{"theirs.safetensors", "theirs.npz", "packed.npz"} {
		f, err := Open(at(file))
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range f.Tensors {
			p, err := x.Whole()
			if got := contents(t, p, err); !bytes.Equal(got, patternOf(x.Type, len(got))) || names[x.Name] != 0 && names[x.Name] != x.Type {
				t.Errorf("%s: %s is %v, %x", file, x.Name, x.Type, got)
			}
		}
		f.Close()
	}
	f, err := Open(at("fortran.npy"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.Tensors[0].Whole()
	if got := contents(t, p, err); !bytes.Equal(got, pattern(48)) {
		t.Errorf("in the order of Fortran: %x", got)
	}
	f.Close()
	if f, err = Open(at("bool.npy")); err != nil || f.Tensors[0].Type != element.Bool || f.Tensors[0].As(element.U8) != nil {
		t.Errorf("bool: %v", err)
	}
	f.Close()
}

// newZip fails on a Python whose archives have headers of another form: before 3.11.4, zipfile gave no
// version of the format in those of files that may be long.
const newZip = `import sys, numpy
if sys.version_info < (3, 11, 4) or tuple(map(int, numpy.__version__.split(".")[:2])) < (1, 25):
    sys.exit(f"Python {sys.version.split()[0]} and numpy {numpy.__version__} write older headers")`

// sameFiles compares the files in two archives: their names, their order and their contents.
func sameFiles(t *testing.T, ours, theirs string) {
	t.Helper()
	var lists [2][]string
	for i, path := range []string{ours, theirs} {
		archive, err := zip.OpenReader(path)
		if err != nil {
			t.Fatal(err)
		}
		defer archive.Close()
		for _, f := range archive.File {
			in, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(in)
			if err != nil {
				t.Fatal(err)
			}
			lists[i] = append(lists[i], fmt.Sprintf("%s: %q", f.Name, text))
		}
	}
	if !slices.Equal(lists[0], lists[1]) {
		t.Errorf("%s and %s differ:\n%s\n%s", ours, theirs, lists[0], lists[1])
	}
}
