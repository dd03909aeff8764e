package tensorfile

import (
	"archive/zip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/element"
)

// foreignArrays are arrays of numpy whose elements no tensor can have: how Python makes them, the header
// that numpy.save writes, and the error.
var foreignArrays = []struct{ python, descr, shape, want, hint string }{
	{`np.array([1, "a", None], dtype=object)`, "'|O'", "(3,)", "Python objects (dtype |O)", "if the objects are numbers, save x.astype(np.float32)"},
	{`np.array(["ab", "hello"])`, "'<U5'", "(2,)", "its elements are texts (dtype <U5)", "np.unique(x, return_inverse=True)[1]"},
	{`np.array(["a"]).astype(">U1")`, "'>U1'", "(1,)", "its elements are texts (dtype >U1)", "save x.astype(np.float32)"},
	{`np.array([b"ab", b"c"])`, "'|S2'", "(2,)", "its elements are byte strings (dtype |S2)", "x.view(np.uint8)"},
	{`np.zeros(3, dtype=[("a", "<f4"), ("b", "<i4")])`, "[('a', '<f4'), ('b', '<i4')]", "(3,)", "made of fields, dtype \"[('a', '<f4'), ('b', '<i4')]\"", "x.dtype.names"},
	{`np.zeros(3, dtype=[("a", [("x", "<f4", (2,))])])`, "[('a', [('x', '<f4', (2,))])]", "(3,)", "made of fields", "np.savez"},
	{`np.zeros(3, dtype=np.dtype([("a", "u1"), ("b", "<f8")], align=True))`, "[('a', '|u1'), ('', '|V7'), ('b', '<f8')]", "(3,)", "made of fields", "np.savez"},
	{`np.array([(1, None)], dtype=[("a", "i4"), ("b", object)])`, "[('a', '<i4'), ('b', '|O')]", "(1,)", "made of fields", "np.savez"},
	{`np.array([(1,)], dtype=[("a]'(", "i4")])`, `[("a]'(", '<i4')]`, "(1,)", "made of fields", "np.savez"},
	{`np.arange(3, dtype=">f4")`, "'>f4'", "(3,)", "big-endian (dtype >f4)", "save x.astype('<f4') in numpy"},
	{`np.zeros(2, ">c16")`, "'>c16'", "(2,)", "big-endian (dtype >c16)", "save x.astype('<c16') in numpy"},
	{`np.array(["2020-01-01"], dtype="datetime64[D]")`, "'<M8[D]'", "(1,)", "dates (dtype <M8[D])", "give symm.I64"},
	{`np.array([1], dtype="timedelta64[25s]")`, "'<m8[25s]'", "(1,)", "durations (dtype <m8[25s])", "give symm.I64"},
	{`np.zeros(2, "V5")`, "'|V5'", "(2,)", "only that they have 5 bytes (dtype |V5)", "save x.view(np.uint8), their bytes"},
	{`np.zeros(2, "V4")`, "'|V4'", "(2,)", "only that they have 4 bytes (dtype |V4)", "give the type that these bytes are to have: symm.F32, symm.I32, symm.U32"},
	{`np.zeros(2, "V1")`, "'|V1'", "(2,)", "only that they have 1 byte (dtype |V1)", "symm.F8E4M3"},
	{`np.zeros(2, np.longdouble)`, "'<f16'", "(2,)", "no elements of dtype <f16", "save x.astype(np.float64)"},
	{`np.zeros(2, np.clongdouble)`, "'<c32'", "(2,)", "no elements of dtype <c32", "save x.astype(np.complex128)"},
}

func refused(t *testing.T, name string, f *File, tensor, want, hint string) {
	t.Helper()
	x, err := f.Find(tensor)
	if err == nil {
		err = x.Usable()
	}
	if e, ok := err.(*Error); !ok || !strings.Contains(e.Msg, want) || !strings.Contains(e.Hint, hint) || e.Tensor != tensor || e.File != f.Path {
		t.Errorf("%s: %v, want %q and %q", name, err, want, hint)
	}
}

// TestForeign checks that an array whose elements are no numbers is refused with what its elements are
// and what to do, and that it keeps nobody from the other members of its archive.
func TestForeign(t *testing.T) {
	good := array("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", 24)
	for _, a := range foreignArrays {
		header := fmt.Sprintf("{'descr': %s, 'fortran_order': False, 'shape': %s, }\n", a.descr, a.shape)
		data := array(header, elementBytes(a.descr, a.shape))
		f, err := Open(put(t, "x.npy", data))
		if err != nil {
			t.Errorf("%s: %v", a.python, err)
			continue
		}
		refused(t, a.python, f, "", a.want, a.hint)
		f.Close()
		for _, method := range []uint16{zip.Store, zip.Deflate} {
			f, err := Open(put(t, "x.npz", archive(t, method, map[string][]byte{"x.npy": data, "good.npy": good}, nil)))
			if err != nil {
				t.Errorf("%s in an archive: %v", a.python, err)
				continue
			}
			refused(t, a.python, f, "x", a.want, a.hint)
			if x, err := f.Find("good"); err != nil || x.Usable() != nil {
				t.Errorf("%s beside a good array: %v, %v", a.python, err, x.Usable())
			}
			f.Close()
		}
	}
}

// elementBytes returns the number of bytes of an array whose type has a size.
func elementBytes(descr, shape string) int {
	var order, letter rune
	var size, n int
	fmt.Sscanf(descr, "'%c%c%d", &order, &letter, &size)
	fmt.Sscanf(shape, "(%d", &n)
	return n * size
}

// TestForeignAs checks which types can be given for elements that have none here.
func TestForeignAs(t *testing.T) {
	for _, c := range []struct {
		descr string
		n     int
		as    element.Type
		want  string
	}{
		{"'<M8[D]'", 8, element.I64, ""},
		{"'|V4'", 4, element.F32, ""},
		{"'|V4'", 4, element.F64, "an element of type |V4 has 4 bytes, and f64 has 8"},
		{"'>f4'", 4, element.F32, "big-endian"},
		{"'|O'", 9, element.U8, "Python objects"},
		{"'<U1'", 4, element.U32, "texts"},
		{"[('a', '<f4')]", 4, element.F32, "made of fields"},
	} {
		f, err := Open(put(t, "x.npy", array("{'descr': "+c.descr+", 'fortran_order': False, 'shape': (1,), }\n", c.n)))
		if err != nil {
			t.Fatal(err)
		}
		err = f.Tensors[0].As(c.as)
		if err == nil {
			err = f.Tensors[0].Usable()
		}
		if got := fmt.Sprint(err); (c.want == "") != (err == nil) || !strings.Contains(got, c.want) {
			t.Errorf("%s as %v: %v, want %q", c.descr, c.as, err, c.want)
		}
		f.Close()
	}
}

// TestForeignPython compares foreignArrays with the files that numpy writes.
func TestForeignPython(t *testing.T) {
	python := os.Getenv("SYMMREPL_JUPYTER")
	if python == "" || exec.Command(python, "-c", "import numpy").Run() != nil {
		t.Skip("SYMMREPL_JUPYTER does not name a Python with numpy")
	}
	var code strings.Builder
	code.WriteString("import numpy as np\nall = {}\n")
	for i, a := range foreignArrays {
		fmt.Fprintf(&code, "all['a%d'] = %s\nnp.save('a%[1]d.npy', all['a%[1]d'])\n", i, a.python)
	}
	code.WriteString("all['good'] = np.zeros(3, 'f4')\nnp.savez('all.npz', **all)\nnp.savez_compressed('packed.npz', **all)\n" +
		"np.save('wide.npy', np.zeros(1, dtype=[('field%d' % i, 'f4') for i in range(700)]))\n")
	c := exec.Command(python, "-c", code.String())
	c.Dir = t.TempDir()
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for i, a := range foreignArrays {
		path := filepath.Join(c.Dir, fmt.Sprintf("a%d.npy", i))
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("{'descr': %s, 'fortran_order': False, 'shape': %s, }", a.descr, a.shape); !strings.Contains(string(data), want) {
			t.Errorf("%s has not the header %s", a.python, want)
		}
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		refused(t, a.python, f, "", a.want, a.hint)
		f.Close()
	}
	for _, name := range []string{"all.npz", "packed.npz"} {
		f, err := Open(filepath.Join(c.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for i, a := range foreignArrays {
			refused(t, name+": "+a.python, f, fmt.Sprintf("a%d", i), a.want, a.hint)
		}
		if x, err := f.Find("good"); err != nil || x.Usable() != nil {
			t.Errorf("the good array of %s: %v", name, err)
		}
		f.Close()
	}
	if _, err := Open(filepath.Join(c.Dir, "wide.npy")); err == nil || !strings.Contains(err.Error(), "at most 10000, as numpy.load does (save fewer fields") {
		t.Errorf("an array of 700 fields: %v", err)
	}
}

// TestRanges checks that errors about data_offsets of safetensors have the tensors and the numbers.
func TestRanges(t *testing.T) {
	entry := func(name, dtype, shape, offsets string) string {
		return fmt.Sprintf("%q:{\"dtype\":%q,\"shape\":%s,\"data_offsets\":%s}", name, dtype, shape, offsets)
	}
	for _, c := range []struct {
		n    int
		want string
		list []string
	}{
		{24, `tensor "b", byte 130: its data_offsets [12, 24] overlap those of tensor "a", which end at 16`,
			[]string{entry("a", "F32", "[4]", "[0,16]"), entry("b", "F32", "[3]", "[12,24]")}},
		{16, `tensor "b", byte 117: its data_offsets [0, 16] overlap those of tensor "a", which end at 16`,
			[]string{entry("a", "F32", "[4]", "[0,16]"), entry("b", "F32", "[4]", "[0,16]")}},
		{24, `tensor "b", byte 125: its data_offsets [12, 24] come behind those of tensor "a", which end at 8, and 4 bytes of no tensor`,
			[]string{entry("a", "F32", "[2]", "[0,8]"), entry("b", "F32", "[3]", "[12,24]")}},
		{24, `tensor "b", byte 64: its data_offsets [12, 24] are the first, behind 12 bytes of no tensor`,
			[]string{entry("b", "F32", "[3]", "[12,24]")}},
		{24, `the file ends with 8 bytes of no tensor: data_offsets end at 16, and the file has 24 bytes of elements`,
			[]string{entry("a", "F32", "[4]", "[0,16]")}},
		{8, `tensor "a", byte 62: data_offsets are [0, 16], and the file has 8 bytes of elements (is the file cut short?`,
			[]string{entry("a", "F32", "[4]", "[0,16]")}},
		{8, `tensor "a", byte 61: data_offsets are [8, 0]: the end comes before the beginning`,
			[]string{entry("a", "F32", "[2]", "[8,0]")}},
		{8, `tensor "a", byte 58: data_offsets has -8, which is no whole number from 0 to 2^63-1`,
			[]string{entry("a", "F32", "[2]", "[-8,0]")}},
		{8, `tensor "a", byte 61: a shape of [3] with elements of 32 bits, dtype F32, does not fill the 8 bytes of data_offsets [0, 8]`,
			[]string{entry("a", "F32", "[3]", "[0,8]")}},
		{8, `tensor "a", byte 62: dtype "F128" is unknown (Load reads U64, I64,`,
			[]string{entry("a", "F128", "[1]", "[0,8]")}},
		{2, `tensor "a": its elements are F4, of 4 bits (save it as F8_E4M3, or its bytes as U8)`,
			[]string{entry("a", "F4", "[4]", "[0,2]")}},
	} {
		path := put(t, "w.safetensors", safe("{"+strings.Join(c.list, ",")+"}", c.n))
		f, err := Open(path)
		if err == nil {
			err = f.Tensors[0].Usable()
			f.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "damaged") {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
