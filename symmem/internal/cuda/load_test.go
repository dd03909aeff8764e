package cuda

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/kernels/signature"
	"github.com/symmrepl/symmrepl/symmem/internal/cuda/cubin"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/kernelfile"
)

// TestLoadedLayout: package kernelfile finds in the cubins of NVRTC the kernels of the text, with
// parameters where C++ has them.
func TestLoadedLayout(t *testing.T) {
	const text = `
extern "C" __global__ void mixed(char a, double b, short c, const float* d, int e, bool f, float4 g, short2 h, long long i, unsigned char j) {
	if (d) ((float*)d)[e] = a + b + c + f + g.w + h.y + i + j;
}
__device__ __noinline__ int helper(int n) { return n * 3 + threadIdx.x; }
extern "C" __global__ void __launch_bounds__(64) helped(int* x, unsigned long long n) { x[0] = helper(n) * helper(x[1]); }
extern "C" __global__ void none() {}
`
	const large = "struct Large { char b[20000]; };\n" + `extern "C" __global__ void large(int* x, Large s, int i) { x[0] = s.b[i]; }`
	for _, arch := range []string{"sm_75", "sm_80", "sm_90", "sm_90a", "sm_100", "sm_120"} {
		c := compilerFor(t, arch)
		open := func(text string) *kernelfile.Image {
			code, err := c.Compile(cubin.Unit{Name: "k.cu", Line: 1, Text: text})
			must(t, err)
			path := filepath.Join(t.TempDir(), "k.cubin")
			must(t, os.WriteFile(path, code.Cubin, 0o600))
			f, err := kernelfile.Open(path)
			must(t, err)
			image, err := f.For(arch)
			must(t, err)
			return image
		}
		image := open(text)
		list, err := signature.Parse(text)
		must(t, err)
		if len(image.Kernels) != len(list) {
			t.Errorf("%s: the cubin has %d kernels, the text %d", arch, len(image.Kernels), len(list))
		}
		for _, k := range list {
			got, known, err := image.Find(k.Name)
			must(t, err)
			want, err := naturalLayout(k.Name, k.Params, nil)
			must(t, err)
			if !known || len(got.Params) != len(want) {
				t.Errorf("%s, %s has %v, want %v", arch, k.Name, got.Params, want)
				continue
			}
			for i, p := range got.Params {
				if p.Offset != want[i].Offset || p.Size != want[i].Size {
					t.Errorf("%s, %s, parameter %d is %v, want %v", arch, k.Name, i, p, want[i])
				}
			}
		}
		k, _, err := open(large).Find("large")
		must(t, err)
		want := []kernelfile.Param{{Offset: 0, Size: 8}, {Offset: 8, Size: 20000}, {Offset: 20008, Size: 4}}
		if !slices.Equal(k.Params, want) {
			t.Errorf("%s: large has %v, want %v", arch, k.Params, want)
		}
	}
}

// fakeLoad loads what the fake driver takes for code.
func fakeLoad(t *testing.T, d *Device) {
	before := live(t)
	m, err := d.Load([]byte("any"), "record")
	must(t, err)
	k := m.Kernels()[0]
	want := []device.Param{{Offset: 0, Size: 8}, {Offset: 8, Size: 4}, {Offset: 16, Size: 8}}
	if k.Name() != "record" || !slices.Equal(k.Params(), want) {
		t.Errorf("the kernel is %s with %v", k.Name(), k.Params())
	}
	must(t, m.Close())
	var failed *device.DriverError
	if _, err := d.Load([]byte("any"), "nowhere"); !errors.As(err, &failed) || failed.Code != 500 || !strings.Contains(failed.Hint, "cuobjdump -elf") {
		t.Errorf("a kernel that the code lacks gives %v", err)
	}
	t.Setenv("FAKE_CUDA_FAIL", "cuModuleLoadData=209")
	if _, err := d.Load([]byte("any"), "record"); !errors.As(err, &failed) || failed.Code != 209 || !strings.Contains(failed.Hint, "compile the file again") {
		t.Errorf("code for another GPU gives %v", err)
	}
	if n := live(t) - before; n != 0 {
		t.Errorf("%d objects were left behind", n)
	}
}
