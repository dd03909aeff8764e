package kernelfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
)

// testdata has the files that Triton and nvcc made; triton_kernels.py and scale.cu there say how.
const testdata = "../../symmemtest/testdata/loaded/"

// image opens a file and picks its code for an architecture.
func image(t *testing.T, path, arch string) *Image {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	im, err := f.For(arch)
	if err != nil {
		t.Fatal(err)
	}
	return im
}

// The layouts are those that cuobjdump -elf prints, and that the parameters' types have.
func TestKernels(t *testing.T) {
	scale := Kernel{"scale", []Param{{0, 8}, {8, 1}, {16, 8}, {24, 2}, {28, 4}}, [3]int{}}
	nothing := Kernel{"nothing", []Param{}, [3]int{}}
	addScaled := Kernel{"add_scaled", []Param{{0, 8}, {8, 8}, {16, 8}, {24, 4}, {32, 8}, {40, 8}}, [3]int{128, 1, 1}}
	rowSums := Kernel{"row_sums", []Param{{0, 8}, {8, 8}, {16, 4}, {24, 8}, {32, 8}}, [3]int{128, 1, 1}}
	oneShot := Kernel{"one_shot", []Param{{0, 8}, {8, 8}, {16, 4}, {20, 4}, {24, 8}, {32, 8}}, [3]int{256, 1, 1}}
	for _, c := range []struct {
		file, arch string
		want       []Kernel
	}{
		{"add_scaled.cubin", "sm_90", []Kernel{addScaled}},
		{"row_sums.cubin", "sm_90", []Kernel{rowSums}},
		{"one_shot.cubin", "sm_90", []Kernel{oneShot}},
		{"one_shot.json", "sm_90", []Kernel{oneShot}},
		{"one_shot.ptx", "sm_90", []Kernel{oneShot}},
		{"scale.fatbin", "sm_90", []Kernel{scale, nothing}},
		{"scale.fatbin", "sm_80", []Kernel{scale, nothing}},
		{"scale.ptx", "sm_120", []Kernel{scale, nothing}},
	} {
		im := image(t, testdata+c.file, c.arch)
		for _, want := range c.want {
			got, known, err := im.Find(want.Name)
			if len(want.Params) == 0 && len(got.Params) == 0 {
				got.Params = want.Params
			}
			if err != nil || !known || !reflect.DeepEqual(got, want) {
				t.Errorf("%s for %s has %+v (%v), want %+v", c.file, c.arch, got, err, want)
			}
		}
		if len(im.Kernels) != len(c.want) {
			t.Errorf("%s for %s has %d kernels, want %d", c.file, c.arch, len(im.Kernels), len(c.want))
		}
	}
}

// A GPU gets machine code of its major version that is not newer than itself, or else PTX.
func TestChoice(t *testing.T) {
	for _, c := range []struct{ file, arch, want string }{
		{"scale.fatbin", "sm_90", "machine code for sm_90"},
		{"scale.fatbin", "sm_80", "machine code for sm_80"},
		{"scale.fatbin", "sm_89", "machine code for sm_80"},
		{"scale.fatbin", "sm_75", "PTX for sm_75"},
		{"scale.fatbin", "sm_100", "PTX for sm_75"},
		{"scale.fatbin", "sm_70", "it has machine code for sm_90, machine code for sm_80, PTX for sm_75, which a GPU of sm_70 does not run"},
		{"packed.fatbin", "sm_90", "machine code for sm_90"},
		{"packed.fatbin", "sm_100", "it has machine code for sm_90, which a GPU of sm_100 does not run"},
		{"one_shot.cubin", "sm_80", "which a GPU of sm_80 does not run"},
		{"one_shot.ptx", "sm_100", "it has PTX for sm_90a, which"},
		{"one_shot.cubin", "amd64", "the device, amd64, runs none of it"},
	} {
		f, err := Open(testdata + c.file)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if im, err := f.For(c.arch); err != nil {
			got = err.Error()
		} else {
			got = im.describe()
		}
		if got != c.want && (!strings.Contains(got, "which") && !strings.Contains(got, "none") || !strings.Contains(got, c.want)) {
			t.Errorf("%s for %s: %s, want %s", c.file, c.arch, got, c.want)
		}
	}
}

// The driver gets no more than it needs: the machine code of an entry that is not packed, PTX with
// an end, and of packed code the whole file.
func TestCode(t *testing.T) {
	if c := image(t, testdata+"scale.fatbin", "sm_80").Code; !bytes.HasPrefix(c, []byte("\x7fELF")) || cubinArch(c) != 80 {
		t.Errorf("the code for sm_80 begins with %q", c[:8])
	}
	if c := image(t, testdata+"one_shot.ptx", "sm_90").Code; c[len(c)-1] != 0 || bytes.Count(c, []byte{0}) != 1 {
		t.Error("PTX does not end with its only NUL")
	}
	whole, _ := os.ReadFile(testdata + "packed.fatbin")
	im := image(t, testdata+"packed.fatbin", "sm_90")
	if !bytes.Equal(im.Code, whole) {
		t.Error("of packed code the driver does not get the file")
	}
	if k, known, err := im.Find("scale"); known || err != nil || k.Name != "scale" {
		t.Errorf("a kernel of packed code: %+v, %v, %v", k, known, err)
	}
}

func TestTriton(t *testing.T) {
	for name, shared := range map[string]int{"row_sums": 16, "add_scaled": 0} {
		f, err := Open(testdata + name + ".json")
		if err != nil || *f.Triton != (Triton{name, shared}) {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}

// refused opens a file of the given contents, and wants an *Error with the words.
func refused(t *testing.T, name string, data []byte, words ...string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err == nil {
		_, err = f.For("sm_90")
	}
	var e *Error
	if !errors.As(err, &e) {
		t.Errorf("%s: the error is %v, want one with %q", name, err, words)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%s: the error is %q, which lacks %q", name, err, w)
		}
	}
}

func read(t testing.TB, name string) []byte {
	data, err := os.ReadFile(testdata + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// put returns data with other bytes at an offset.
func put(data []byte, at int, with ...byte) []byte {
	data = bytes.Clone(data)
	copy(data[at:], with)
	return data
}

func TestRefused(t *testing.T) {
	cubin, fatbin, ptx, meta := read(t, "one_shot.cubin"), read(t, "scale.fatbin"), string(read(t, "scale.ptx")), string(read(t, "one_shot.json"))
	refused(t, "empty", nil, "it is empty", "copy it again")
	refused(t, "noise", []byte{1, 2, 3, 0, 5}, "none of the files that a GPU's driver loads")
	refused(t, "cuda.cu", read(t, "scale.cu"), "not PTX", "symm.Compile")
	refused(t, "host", put(cubin, 18, 62, 0), "an ELF file for EM_X86_64", "nvcc -cubin")
	refused(t, "object", put(cubin, 16, 1, 0), "a relocatable object")
	refused(t, "header", cubin[:40], "its headers cannot be read")
	refused(t, "cut", fatbin[:len(fatbin)-1], "its header announces")
	refused(t, "short", fatbin[:10], "ends within the header")
	refused(t, "entry", put(fatbin, 16+8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), "entry 1 of the fatbin is damaged")
	refused(t, "none", put(fatbin[:16], 8, 0, 0, 0, 0, 0, 0, 0, 0), "no code for a GPU")
	refused(t, "ptx", []byte(ptx[:len(ptx)/2]), "ends within a function")
	refused(t, "ptx32", []byte(strings.Replace(ptx, ".address_size 64", ".address_size 32", 1)), "its addresses have \"32\" bits")
	refused(t, "target", []byte(strings.Replace(ptx, ".target", ".tarnish", 1)), "no .target")
	refused(t, "param", []byte(strings.Replace(ptx, ".param .u64", ".param .u63", 1)), "line 16", "parameter 1 of kernel \"scale\"", ".u63")
	refused(t, "large", []byte(strings.Replace(ptx, "scale_param_0", "scale_param_0[9000]", 1)), "more than 32764 bytes")
	refused(t, "overflow", []byte(strings.Replace(ptx, "scale_param_0", "scale_param_0[18446744073709551615]", 1)), "18446744073709551615")
	refused(t, "x.json", []byte("{"), "not Triton's metadata")
	refused(t, "x.json", []byte(`{"shared": 5}`), "not Triton's metadata")
	refused(t, "x.json", []byte(meta), "x.cubin: no such file", "copy both")
	refused(t, "x.json", []byte(strings.Replace(meta, `"num_ctas": 1`, `"num_ctas": 2`, 1)), "needs a cluster of blocks")
	refused(t, "x.json", []byte(strings.Replace(meta, `"global_scratch_size": 0`, `"global_scratch_size": 64`, 1)), "needs scratch memory")
	refused(t, "x.json", []byte(strings.Replace(meta, `"launch_cooperative_grid": false`, `"launch_cooperative_grid": true`, 1)), "a cooperative launch")
	refused(t, "x.json", []byte(strings.Replace(meta, `"cuda"`, `"hip"`, 2)), `for "hip"`)

	if _, err := Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "a folder") {
		t.Errorf("a folder gives %v", err)
	}
	if _, err := Open("/dev/zero"); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("a device gives %v", err)
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(pipe); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("a pipe gives %v", err)
	}
	if _, err := Open("none.cubin"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file gives %v", err)
	}
	im := image(t, testdata+"scale.ptx", "sm_90")
	if _, _, err := im.Find("scal"); err == nil || !strings.Contains(err.Error(), `no kernel "scal" (it has scale, nothing)`) {
		t.Errorf("another name gives %v", err)
	}
}

// A file that ends early is refused wherever it ends: the driver would read past its end.
func TestTruncated(t *testing.T) {
	for _, name := range []string{"one_shot.cubin", "row_sums.cubin", "scale.fatbin", "packed.fatbin"} {
		data := read(t, name)
		for n := range data {
			f := &File{data: data[:n:n]}
			if f.parse() == nil {
				t.Fatalf("%s is accepted with %d of %d bytes", name, n, len(data))
			}
		}
	}
}

// attributes of two kernels that a damaged file confuses.
func TestDamagedAttributes(t *testing.T) {
	param := func(ordinal, offset uint16, size uint32) []byte {
		b := []byte{4, attrKParamInfo, 12, 0, 0, 0, 0, 0}
		b = binary.LittleEndian.AppendUint16(b, ordinal)
		b = binary.LittleEndian.AppendUint16(b, offset)
		return binary.LittleEndian.AppendUint32(b, size<<18)
	}
	for what, b := range map[string][]byte{
		"a number twice":   append(param(0, 0, 8), param(0, 8, 8)...),
		"a number missing": param(1, 0, 8),
		"an overlap":       append(param(0, 0, 8), param(1, 4, 8)...),
		"no size":          param(0, 0, 0),
		"too far":          param(0, 32760, 8),
		"cut":              param(0, 0, 8)[:10],
		"cut in a head":    {4, attrKParamInfo},
	} {
		if err := (&Kernel{}).readAttributes(b); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%s gives %v", what, err)
		}
	}
	var k Kernel
	if err := k.readAttributes(append(param(1, 8, 4), param(0, 0, 8)...)); err != nil || !reflect.DeepEqual(k.Params, []Param{{0, 8}, {8, 4}}) {
		t.Errorf("parameters in another order: %v, %v", k.Params, err)
	}
}

// FuzzParse holds whatever a file has to what launches rely on.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"one_shot.cubin", "row_sums.cubin", "scale.fatbin", "packed.fatbin", "one_shot.ptx", "scale.ptx"} {
		f.Add(read(f, name))
	}
	f.Add([]byte(".version 9.0 .target sm_75 .entry k(.param .align 8 .b8 p[24], .param .u64 .ptr .global .align 1 q) .reqntid 4, 2 { }"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file := &File{Path: "fuzzed", data: data}
		if err := file.parse(); err != nil {
			if e := (*Error)(nil); !errors.As(err, &e) || e.Msg == "" {
				t.Fatalf("an error that is none of the package's: %v", err)
			}
			return
		}
		for _, arch := range []string{"sm_75", "sm_80", "sm_90", "sm_100", "sm_120"} {
			im, err := file.For(arch)
			if err != nil {
				continue
			}
			if len(im.Code) == 0 || len(im.Code) > len(data)+1 {
				t.Fatalf("code of %d bytes in a file of %d", len(im.Code), len(data))
			}
			for _, k := range im.Kernels {
				end := 0
				for _, p := range k.Params {
					if p.Offset < end || p.Size <= 0 || p.Offset+p.Size > maxParams {
						t.Fatalf("kernel %q has parameters %v", k.Name, k.Params)
					}
					end = p.Offset + p.Size
				}
				if _, known, err := im.Find(k.Name); !known || err != nil {
					t.Fatalf("kernel %q is not found: %v", k.Name, err)
				}
			}
		}
	})
}

// FuzzTriton holds metadata to what launches rely on.
func FuzzTriton(f *testing.F) {
	f.Add(read(f, "row_sums.json"))
	f.Add([]byte(`{"name": "k", "shared": 1e3, "target": {"backend": "cuda"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseTriton(data)
		if e := (*Error)(nil); err != nil && (!errors.As(err, &e) || e.Msg == "") || err == nil && m.Shared < 0 {
			t.Fatalf("%+v, %v", m, err)
		}
	})
}
