package tensorfile

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/element"
)

// put writes a file of the test's folder.
func put(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// safe is a safetensors file of a header and that many bytes of elements, 0, 1, 2, ….
func safe(header string, n int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	b = append(b, header...)
	for i := range n {
		b = append(b, byte(i))
	}
	return b
}

// array is an .npy file.
func array(header string, n int) []byte {
	b := append([]byte(npyMagic), 1, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(header)))
	b = append(b, header...)
	for i := range n {
		b = append(b, byte(i))
	}
	return b
}

// archive is a zip archive; change may change the header of a member of name.
func archive(t testing.TB, method uint16, members map[string][]byte, change func(*zip.FileHeader)) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, data := range members {
		h := &zip.FileHeader{Name: name, Method: method}
		m, err := w.CreateHeader(h)
		if change != nil {
			h = &zip.FileHeader{Name: name, Method: method, CompressedSize64: uint64(len(data)),
				UncompressedSize64: uint64(len(data)), CRC32: crc32.ChecksumIEEE(data)}
			change(h)
			b.Reset()
			w = zip.NewWriter(&b)
			m, err = w.CreateRaw(h)
		}
		if err != nil {
			t.Fatal(err)
		}
		m.Write(data)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// contents reads a part.
func contents(t testing.TB, p *Part, err error) []byte {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, p.Bytes())
	if n, err := p.ReadAt(data, 0); n != len(data) || err != nil {
		t.Fatalf("%d of %d bytes are read: %v", n, len(data), err)
	}
	return data
}

func TestSafetensors(t *testing.T) {
	header := `{"__metadata__":{"format":"pt"},"b":{"dtype":"F8_E5M2","shape":[],"data_offsets":[8,9]},"a":{"dtype":"BF16","shape":[2,2],"data_offsets":[0,8]},` +
		`"none":{"dtype":"F32","shape":[0,3],"data_offsets":[8,8]},"flags":{"dtype":"BOOL","shape":[3],"data_offsets":[9,12]}}  `
	f, err := Open(put(t, "w.safetensors", safe(header, 12)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for name, want := range map[string]string{
		"a": "bf16 [2 2] 0001020304050607", "b": "f8e5m2 [] 08", "none": "f32 [0 3] ", "flags": "bool [3] 090a0b",
	} {
		x, err := f.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := x.Whole()
		if got := fmt.Sprintf("%v %v %x", x.Type, x.Shape, contents(t, p, err)); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	flags, _ := f.Find("flags")
	if err := flags.As(element.F32); err == nil {
		t.Error("a byte becomes f32")
	}
	if err := flags.As(element.U8); err != nil || flags.Type != element.U8 {
		t.Error(err)
	}
	if a, _ := f.Find("a"); a.As(element.F16) == nil || a.As(element.BF16) != nil {
		t.Error("As does not keep the file's type")
	}
	if _, err := f.Find("c"); err == nil || !strings.Contains(err.Error(), `"a"`) {
		t.Errorf("a name that is not there: %v", err)
	}
	if _, err := f.Find(""); err == nil {
		t.Error("no name stands for several tensors")
	}
}

// Part has the same elements as loops over a whole tensor, at every dimension and in both orders.
func TestPart(t *testing.T) {
	shape := []int{3, 4, 5}
	for _, order := range []string{"False", "True"} {
		header := fmt.Sprintf("{'descr': '<u2', 'fortran_order': %s, 'shape': (3, 4, 5), }\n", order)
		f, err := Open(put(t, "x.npy", array(header, 120)))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		x := f.Tensors[0]
		at := func(i, j, k int) (want []byte) {
			n := (i*4+j)*5 + k
			if order == "True" {
				n = (k*4+j)*3 + i
			}
			return []byte{byte(2 * n), byte(2*n + 1)}
		}
		for dim := range shape {
			for lo := 0; lo <= shape[dim]; lo++ {
				for hi := lo; hi <= shape[dim]; hi++ {
					from, to := []int{0, 0, 0}, slices.Clone(shape)
					from[dim], to[dim] = lo, hi
					var want []byte
					for i := from[0]; i < to[0]; i++ {
						for j := from[1]; j < to[1]; j++ {
							for k := from[2]; k < to[2]; k++ {
								want = append(want, at(i, j, k)...)
							}
						}
					}
					p, err := x.Part(dim, lo, hi)
					if got := contents(t, p, err); !bytes.Equal(got, want) {
						t.Fatalf("fortran %s, dimension %d, [%d, %d): %x, want %x", order, dim, lo, hi, got, want)
					}
					for off := range want { // from any byte on
						got := make([]byte, len(want)-off)
						if _, err := p.ReadAt(got, int64(off)); err != nil || !bytes.Equal(got, want[off:]) {
							t.Fatalf("from byte %d on: %x, %v", off, got, err)
						}
					}
					if n, err := p.ReadAt(make([]byte, 1), int64(len(want))); n != 0 || err != io.EOF {
						t.Fatalf("behind the end: %d, %v", n, err)
					}
				}
			}
		}
	}
}

// Rows that are read by calls of the system each.
func TestWideParts(t *testing.T) {
	data := make([]byte, 4*3*wide)
	for i := range data {
		data[i] = byte(i / 7)
	}
	header := fmt.Sprintf("{'descr': '|u1', 'fortran_order': False, 'shape': (4, %d), }\n", 3*wide)
	f, err := Open(put(t, "x.npy", append(array(header, 0), data...)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := f.Tensors[0].Part(1, wide, 2*wide+1)
	got := contents(t, p, err)
	for i := range 4 {
		if row := 3 * wide * i; !bytes.Equal(got[i*(wide+1):(i+1)*(wide+1)], data[row+wide:row+2*wide+1]) {
			t.Errorf("row %d differs", i)
		}
	}
}

func TestNpz(t *testing.T) {
	x := array("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", 24)
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		f, err := Open(put(t, "x.npz", archive(t, method, map[string][]byte{"x.npy": x, "text.txt": []byte("no tensor")}, nil)))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		y, err := f.Find("x")
		if err != nil {
			t.Fatal(err)
		}
		p, err := y.Whole()
		if got := contents(t, p, err); !bytes.Equal(got, x[len(x)-24:]) || len(f.Tensors) != 1 {
			t.Errorf("method %d: %x", method, got)
		}
		p, err = y.Part(1, 1, 2)
		if got := fmt.Sprintf("%x", contents(t, p, err)); got != "0405060710111213" {
			t.Errorf("method %d, a column: %s", method, got)
		}
	}
}

// Every fault of a header is found before anything is allocated, and said with its place.
func TestHostile(t *testing.T) {
	entry := func(dtype, shape, offsets string) string {
		return fmt.Sprintf(`{"a":{"dtype":%q,"shape":%s,"data_offsets":%s}}`, dtype, shape, offsets)
	}
	const ok = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n"
	x := array(ok, 24)
	raw := func(change func(*zip.FileHeader)) []byte {
		return archive(t, zip.Deflate, map[string][]byte{"x.npy": x}, func(h *zip.FileHeader) { h.Method = zip.Store; change(h) })
	}
	damaged := archive(t, zip.Store, map[string][]byte{"x.npy": x}, nil)
	overlapping := archive(t, zip.Store, map[string][]byte{"x.npy": x, "y.npy": x}, nil)
	second := bytes.LastIndex(overlapping, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(overlapping[second+42:], 0) // both directory entries lead to the first member
	for _, tt := range []struct{ name, file, data, want string }{
		{"empty", "w.safetensors", "", "too few for a header"},
		{"short", "w.safetensors", "\x10\x00\x00", "too few for a header"},
		{"long header", "w.safetensors", "\xff\xff\xff\xff\xff\xff\xff\x7f{}", "a header of 9223372036854775807 bytes"},
		{"header beyond the file", "w.safetensors", "\x10\x00\x00\x00\x00\x00\x00\x00{}", "a header of 16 bytes in a file of 10"},
		{"no header", "w.safetensors", string(safe("", 0)), "does not begin with {"},
		{"array", "w.safetensors", string(safe("[]", 0)), "does not begin with {"},
		{"deep", "w.safetensors", string(safe(`{"a":`+strings.Repeat("[", 1e6), 0)), "must begin with {"},
		{"deep objects", "w.safetensors", string(safe(strings.Repeat(`{"a":`, 1e6), 0)), "which means nothing"},
		{"deep shape", "w.safetensors", string(safe(`{"a":{"shape":`+strings.Repeat("[", 1e6), 0)), "which is no whole number"},
		{"deep metadata", "w.safetensors", string(safe(`{"__metadata__":{"a":{"b":1}}}`, 0)), "must be a string"},
		{"not UTF-8", "w.safetensors", string(safe("{\"\xff\":{}}", 0)), "not UTF-8"},
		{"cut off", "w.safetensors", string(safe(`{"a":{"dtype":"F32"`, 0)), "not JSON"},
		{"behind the end", "w.safetensors", string(safe(`{} {}`, 0)), "goes on behind its end"},
		{"twice", "w.safetensors", string(safe(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 1)), `"a" twice`},
		{"no shape", "w.safetensors", string(safe(`{"a":{"dtype":"U8","data_offsets":[0,1]}}`, 1)), "must have dtype, shape"},
		{"unknown key", "w.safetensors", string(safe(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"x":1}}`, 1)), "means nothing"},
		{"unknown type", "w.safetensors", string(safe(entry("F12", "[1]", "[0,1]"), 1)), `dtype "F12" is unknown`},
		{"negative", "w.safetensors", string(safe(entry("U8", "[-1]", "[0,1]"), 1)), "which is no whole number"},
		{"fraction", "w.safetensors", string(safe(entry("U8", "[1.0]", "[0,1]"), 1)), "which is no whole number"},
		{"2^63", "w.safetensors", string(safe(entry("U8", "[9223372036854775808]", "[0,1]"), 1)), "which is no whole number"},
		{"2^63 bytes", "w.safetensors", string(safe(entry("F32", "[2305843009213693952]", "[0,0]"), 0)), "does not fill the 0 bytes"},
		{"2^64 bytes", "w.safetensors", string(safe(entry("F32", "[4294967296,4294967296]", "[0,0]"), 0)), "does not fill the 0 bytes"},
		{"dimensions", "w.safetensors", string(safe(entry("U8", "["+strings.Repeat("1,", 64)+"1]", "[0,1]"), 1)), "more than 64 numbers"},
		{"three offsets", "w.safetensors", string(safe(entry("U8", "[1]", "[0,1,1]"), 1)), "more than 2 numbers"},
		{"backwards", "w.safetensors", string(safe(entry("U8", "[1]", "[1,0]"), 1)), "data_offsets are [1, 0]"},
		{"beyond the file", "w.safetensors", string(safe(entry("U8", "[2]", "[0,2]"), 1)), "the file has 1 byte of elements"},
		{"shape too large", "w.safetensors", string(safe(entry("F32", "[2]", "[0,4]"), 4)), "does not fill the 4 bytes"},
		{"gap", "w.safetensors", string(safe(entry("U8", "[1]", "[1,2]"), 2)), "are the first, behind 1 byte of no tensor"},
		{"rest", "w.safetensors", string(safe(entry("U8", "[1]", "[0,1]"), 2)), "the file ends with 1 byte of no tensor"},
		{"overlap", "w.safetensors", string(safe(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}`, 3)), "overlap"},
		{"alias", "w.safetensors", string(safe(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`, 2)), "overlap"},

		{"empty", "x.npy", "", "does not begin as an .npy file"},
		{"pickle", "x.npy", string(array("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n", 8)), "its elements are Python objects (dtype |O), which Load does not unpickle"},
		{"fields", "x.npy", string(array("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }\n", 4)), `made of fields, dtype "[('a', '<f4')]"`},
		{"fields without an end", "x.npy", string(array("{'descr': [('a', '<f4')", 4)), "a list does not end"},
		{"a field without an end", "x.npy", string(array("{'descr': [('a", 4)), "a name does not end"},
		{"text", "x.npy", string(array("{'descr': '<U4', 'fortran_order': False, 'shape': (1,), }\n", 16)), "its elements are texts (dtype <U4)"},
		{"big-endian", "x.npy", string(array("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }\n", 4)), "big-endian"},
		{"size", "x.npy", string(array("{'descr': '<f0', 'fortran_order': False, 'shape': (1,), }\n", 4)), `"<f0" is no type of numpy`},
		{"no size", "x.npy", string(array("{'descr': '<U', 'fortran_order': False, 'shape': (1,), }\n", 4)), `"<U" is no type of numpy`},
		{"no type", "x.npy", string(array("{'descr': 'f4', 'fortran_order': False, 'shape': (1,), }\n", 4)), `"f4" is no type of numpy`},
		{"cut header", "x.npy", npyMagic + "\x01\x00\x40\x00{}", "a header of 64 bytes, of which 2 are there"},
		{"version", "x.npy", npyMagic + "\x04\x00\x00\x00\x00\x00", "version 4.0"},
		{"long header", "x.npy", npyMagic + "\x02\x00\xff\xff\xff\xff{}", "a header of 4294967295 bytes"},
		{"code", "x.npy", string(array("__import__('os').system('true')", 0)), "no dictionary"},
		{"shape of code", "x.npy", string(array("{'descr': '<f4', 'fortran_order': False, 'shape': (f(),), }\n", 4)), "no whole number"},
		{"2^63", "x.npy", string(array("{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775808,), }\n", 4)), "no whole number"},
		{"2^64 bytes", "x.npy", string(array("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }\n", 0)), "does not fill"},
		{"short", "x.npy", string(array(ok, 23)), "does not fill the 23 bytes"},
		{"rest", "x.npy", string(array(ok, 25)), "does not fill the 25 bytes"},
		{"twice", "x.npy", string(array("{'shape': (1,), 'shape': (1,), }\n", 25)), "twice"},
		{"missing", "x.npy", string(array("{'shape': (1,), }\n", 1)), "must have descr"},
		{"behind the end", "x.npy", string(array(strings.TrimSpace(ok)+"+1\n", 24)), "behind its end"},

		{"no archive", "x.npz", "PK", "no zip archive"},
		{"path", "x.npz", string(archive(t, zip.Store, map[string][]byte{"../x.npy": x}, nil)), "leads out of the archive"},
		{"absolute", "x.npz", string(archive(t, zip.Store, map[string][]byte{"/x.npy": x}, nil)), "leads out of the archive"},
		{"bomb", "x.npz", string(raw(func(h *zip.FileHeader) { h.Method = zip.Deflate; h.UncompressedSize64 = 1 << 62 })),
			"cannot inflate to 4611686018427387904"},
		{"encrypted", "x.npz", string(raw(func(h *zip.FileHeader) { h.Flags = 1 })), "encrypted"},
		{"compression", "x.npz", string(raw(func(h *zip.FileHeader) { h.Method = 12 })), "compression 12"},
		{"sizes", "x.npz", string(raw(func(h *zip.FileHeader) { h.UncompressedSize64-- })), "takes 94"},
		{"beyond the file", "x.npz", string(raw(func(h *zip.FileHeader) { h.CompressedSize64 = 1 << 40; h.UncompressedSize64 = 1 << 40 })), ""},
		{"overlap", "x.npz", string(overlapping), ""},
	} {
		f, err := Open(put(t, tt.file, []byte(tt.data)))
		if err == nil {
			err = f.Tensors[0].Usable()
		}
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.Error(), tt.want) || filepath.Base(e.File) != tt.file {
			t.Errorf("%s, %s: %v, want %q", tt.file, tt.name, err, tt.want)
		}
		if f != nil {
			f.Close()
		}
	}
	// What the checksum or the deflated data say is found when the elements are read.
	flipped := bytes.Clone(damaged)
	flipped[bytes.LastIndex(flipped, []byte{22, 23})]++
	var packed bytes.Buffer
	deflate, _ := flate.NewWriter(&packed, 9)
	deflate.Write(append(bytes.Clone(x), 0))
	deflate.Close()
	lying := archive(t, zip.Deflate, map[string][]byte{"x.npy": packed.Bytes()}, func(h *zip.FileHeader) { h.UncompressedSize64 = uint64(len(x)) })
	for want, data := range map[string][]byte{"its checksum": flipped, "inflates to more": lying} {
		f, err := Open(put(t, "x.npz", data))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Tensors[0].Whole(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		f.Close()
	}
}

// Links are followed, and what is no file is refused without waiting.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	file, link, pipe := filepath.Join(dir, "x.npy"), filepath.Join(dir, "link.npy"), filepath.Join(dir, "pipe.npy")
	os.Symlink("x.npy", link)
	o := &Output{Type: element.U8, Shape: []int{4}}
	save := func(path, data string) error {
		w, err := Create(path, []*Output{o})
		if err != nil {
			return err
		}
		w.At(o).WriteAt([]byte(data), 0)
		return w.Commit()
	}
	if err := save(link, "made"); err != nil { // of a link that leads nowhere
		t.Fatal(err)
	}
	os.Chmod(file, 0o640)
	if err := save(link, "data"); err != nil {
		t.Fatal(err)
	}
	info, _ := os.Lstat(file)
	if l, err := os.Readlink(link); l != "x.npy" || err != nil || info.Mode() != 0o640 {
		t.Errorf("the link is %q, the file %v", l, info.Mode())
	}
	f, err := Open(link)
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.Tensors[0].Whole()
	if got := contents(t, p, err); string(got) != "data" {
		t.Errorf("%q", got)
	}
	f.Close()
	syscall.Mkfifo(pipe, 0o666)
	for path, want := range map[string]string{pipe: "it is a pipe", dir: "it is a folder"} {
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Open: %v, want %q", err, want)
		}
		if err := save(path, "data"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Create: %v, want %q", err, want)
		}
	}
	if _, err := Open(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if list, _ := os.ReadDir(dir); len(list) != 3 {
		t.Errorf("the folder has %v", list)
	}
}

// A file that becomes shorter while it is read is an error, and not the end of the process.
func TestTruncated(t *testing.T) {
	for name, shape := range map[string]string{"rows": "(4096, 64)", "one": "(262144,)"} {
		path := put(t, "x.npy", array("{'descr': '|u1', 'fortran_order': False, 'shape': "+shape+", }\n", 1<<18))
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		x := f.Tensors[0]
		p, err := x.Part(len(x.Shape)-1, 0, x.Shape[len(x.Shape)-1]/2)
		if err != nil {
			t.Fatal(err)
		}
		os.Truncate(path, 1<<12)
		var e *Error
		if _, err := p.ReadAt(make([]byte, p.Bytes()), 0); !errors.As(err, &e) || !strings.Contains(e.Msg, "shorter") || e.File != path {
			t.Errorf("%s: %v", name, err)
		}
		f.Close()
	}
}

func TestRefusedOutputs(t *testing.T) {
	u8 := func(name string) *Output { return &Output{Name: name, Type: element.U8, Shape: []int{1}} }
	for _, tt := range []struct {
		path string
		list []*Output
		want string
	}{
		{"x.npy", []*Output{u8("a"), u8("b")}, "one tensor, not 2"},
		{"x.safetensors", []*Output{u8("a"), u8("a")}, "there twice"},
		{"x.safetensors", []*Output{u8("__metadata__")}, "the format reserves this name"},
		{"x.safetensors", []*Output{u8("\xff")}, "not UTF-8"},
		{"x.npz", []*Output{u8("../a")}, "cannot have this name"},
		{"x.npz", []*Output{u8("")}, "needs a name"},
	} {
		dir := t.TempDir()
		if _, err := Create(filepath.Join(dir, tt.path), tt.list); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %q", err, tt.want)
		}
		if list, _ := os.ReadDir(dir); len(list) != 0 {
			t.Errorf("the folder has %v", list)
		}
	}
}

// FuzzOpen checks that whatever a file has, every tensor's bytes lie within it, and can be read.
func FuzzOpen(f *testing.F) {
	x := array("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n", 24)
	f.Add(uint8(0), safe(`{"__metadata__":{"a":"b"},"a":{"dtype":"BF16","shape":[2,2],"data_offsets":[0,8]},"b":{"dtype":"F4","shape":[2],"data_offsets":[8,9]}}`, 9))
	f.Add(uint8(1), x)
	f.Add(uint8(1), array("{'descr': [('a', '<f4'), (('t', 'b'), '|O', (2,))], 'fortran_order': False, 'shape': (2,), }\n", 24))
	f.Add(uint8(1), array("{'descr': '<M8[25s]', 'fortran_order': False, 'shape': (3,), }\n", 24))
	f.Add(uint8(2), archive(f, zip.Store, map[string][]byte{"x.npy": x}, nil))
	f.Add(uint8(2), archive(f, zip.Deflate, map[string][]byte{"x.npy": x}, nil))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, sort uint8, data []byte) {
		path := filepath.Join(dir, "f"+[]string{".safetensors", ".npy", ".npz"}[sort%3])
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		file, err := Open(path)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Msg == "" || e.File != path {
				t.Fatalf("%v is no Error", err)
			}
			return
		}
		defer file.Close()
		for _, x := range file.Tensors {
			if x.bytes < 0 || !x.deflated && (x.offset < 0 || x.offset+x.bytes > int64(len(data))) || x.deflated && x.bytes > maxRatio*int64(len(data)) {
				t.Fatalf("%d bytes at %d in a file of %d", x.bytes, x.offset, len(data))
			}
			if err := x.Usable(); err != nil && (!errors.As(err, new(*Error)) || err.(*Error).Hint == "") {
				t.Fatalf("%v says nothing to do", err)
			}
			if x.Size == 0 {
				continue
			}
			p, err := x.Whole()
			if err != nil {
				continue
			}
			if p.Bytes() != x.bytes {
				t.Fatalf("%d bytes of %d", p.Bytes(), x.bytes)
			}
			contents(t, p, nil)
			if len(x.Shape) > 0 && x.Shape[len(x.Shape)-1] > 0 {
				p, err := x.Part(len(x.Shape)-1, 0, 1)
				contents(t, p, err)
			}
		}
	})
}
