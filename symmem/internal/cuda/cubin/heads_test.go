package cubin

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// apart returns a compiler without a cache, so that it compiles every time.
func apart(t testing.TB) *Compiler {
	t.Helper()
	c := compiler(t, t.TempDir(), "sm_90")
	c.cache = nil
	n, err := c.load()
	if err != nil {
		t.Fatal(err)
	}
	if !n.Precompiles() {
		t.Skip("this NVRTC has no precompiled headers: they came with 12.8")
	}
	return c
}

// plain is the machine code of a unit whose text includes the headers itself, which are not
// precompiled then.
func plain(t testing.TB, c *Compiler, u Unit) Binary {
	t.Helper()
	u.Text, u.Includes, u.Line = head(u)+u.Text, nil, u.Line-len(u.Includes)
	return compile(t, c, u)
}

// TestPrecompiled compares machine code that was made with precompiled headers with code that was
// made without, for headers of which the second has the name of the first.
func TestPrecompiled(t *testing.T) {
	c := apart(t)
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	c.Prepare(scale)
	if len(c.heads.made) != 1 {
		t.Fatalf("there are %d precompiled headers", len(c.heads.made))
	}
	other, optional := scale, scale
	other.Headers = [][2]string{{"symm.cuh", "#pragma once\n#define TWICE(x) ((x) * (x) + MORE)\n#ifndef MORE\n#define MORE 7\n#endif\n"}}
	optional.Headers, optional.Options = other.Headers, []string{"--define-macro=MORE=9"}
	for range 2 {
		for _, u := range []Unit{scale, other, optional} {
			u.Name = "another cell"
			if !bytes.Equal(compile(t, c, u).Cubin, plain(t, c, u).Cubin) {
				t.Errorf("the machine code differs for %v", u.Options)
			}
		}
	}
	if len(c.heads.made) != 3 {
		t.Errorf("there are %d precompiled headers", len(c.heads.made))
	}
	for _, file := range c.heads.made {
		if info, err := file.Stat(); err != nil || info.Size() == 0 {
			t.Errorf("a precompiled header is empty: %v", err)
		}
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("%v are left (%v)", left, err)
	}
}

// TestPrecompiledErrors compares the errors of a text, and compiles where no file can be made.
func TestPrecompiledErrors(t *testing.T) {
	c := apart(t)
	wrong := scale
	wrong.Text = "__global__ void k(float* x) {\n  x[0] = y;\n}"
	for range 2 {
		_, err := c.Compile(wrong)
		var e *device.CompileError
		if !errors.As(err, &e) || len(e.Diagnostics) != 1 || e.Diagnostics[0].Line != 6 || e.Diagnostics[0].Text != `identifier "y" is undefined` {
			t.Errorf("%v", err)
		}
	}
	broken := scale
	broken.Headers = [][2]string{{"symm.cuh", "#pragma once\nint float;\n"}}
	if _, err := c.Compile(broken); !errors.As(err, new(*device.CompileError)) {
		t.Errorf("a wrong header: %v", err)
	}
	nowhere := apart(t)
	t.Setenv("TMPDIR", t.TempDir()+"/nowhere")
	if !bytes.Equal(compile(t, nowhere, scale).Cubin, compile(t, c, scale).Cubin) {
		t.Error("the machine code differs without a folder for temporary files")
	}
}

// TestPrecompiledTogether compiles texts at the same time.
func TestPrecompiledTogether(t *testing.T) {
	c := apart(t)
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			u := scale
			u.Text = fmt.Sprintf("__global__ void scale(float* x) { x[%d] = TWICE(x[threadIdx.x]); }", i)
			if _, err := c.Compile(u); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
