//go:build linux && (amd64 || arm64)

package cpu

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/kernelcache"
)

// TestPrecompiled checks that texts compile to the same kernels, and to errors at the same lines,
// without a precompiled beginning, with one, and with one that was damaged or comes from elsewhere.
func TestPrecompiled(t *testing.T) {
	folder, _ := countedCompiler(t)
	number := 0
	check := func(what string) *compiler {
		t.Helper()
		b := open(t)
		for range 2 {
			number++
			k := b.compile(fmt.Sprintf("__global__ void f(int* p) { *p = %d; }", number))["f"]
			p := b.alloc(4)
			b.launch(k, 1, 1, p)
			if got := download[int32](b, p, 1)[0]; got != int32(number) {
				t.Errorf("%s: the kernel gives %d, want %d", what, got, number)
			}
		}
		_, err := b.Compile(device.Source{Name: "cell[9]", Line: 20, Text: fmt.Sprintf("// %d\n__global__ void f(int* p) { *q = 1; }", number)})
		var e *device.CompileError
		if !errors.As(err, &e) || len(e.Diagnostics) != 1 || e.Diagnostics[0].Line != 21 {
			t.Errorf("%s: %v", what, err)
		}
		c := &b.Device.(*cpu).compiler
		c.close()
		return c
	}
	c := check("without")
	if c.cxx.Zig {
		return // units are compiled whole by zig
	}
	found, err := filepath.Glob(filepath.Join(folder, "cpu", "precompiled-*.gch"))
	if err != nil || len(found) != 1 {
		t.Fatalf("precompiled beginnings: %v (%v)", found, err)
	}
	name := filepath.Base(found[0])
	whole, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	check("with")
	if !c.cache.Has(name) {
		t.Error("the precompiled beginning was removed")
	}
	for _, size := range []int{0, 100, len(whole) / 2} {
		if err := os.Truncate(found[0], int64(size)); err != nil {
			t.Fatal(err)
		}
		check(fmt.Sprint("cut to ", size))
		if !c.cache.Has(name) {
			t.Errorf("cut to %d, it was not made again", size)
		}
	}
	for what, content := range map[string][]byte{"nothing": {}, "a text": []byte("int x = ;\n"), "a half": whole[:len(whole)/2]} {
		if err := errors.Join(os.WriteFile(found[0], content, 0o600),
			os.WriteFile(filepath.Join(folder, "cpu", "sums", name), []byte(kernelcache.Key(".", string(content))), 0o600)); err != nil {
			t.Fatal(err)
		}
		check(what + " with the right digest")
	}
	if err := os.Remove(filepath.Join(folder, "cpu", name[:len(name)-len(".gch")])); err != nil {
		t.Fatal(err)
	}
	check("without its header")
}
