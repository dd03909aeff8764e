package symmem

import (
	"fmt"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/signature"
)

// Kernel is a __global__ function of a text that Compile accepted.
type Kernel struct {
	rt     *Runtime
	d      device.Kernel
	module *module
	params []signature.Type // of d.Params(), understood
	sig    string           // "scale(float* x, int n)"
}

// module is a compiled text. It stays loaded until the world is closed: its kernels may be running.
type module struct {
	d       device.Module
	kernels []*Kernel
}

// source identifies a text, so that compiling it again costs nothing.
type source struct {
	name string
	line int
	text string
}

// Compile turns CUDA C++ into kernels and returns the first one. symm.cuh is already included. It is not
// collective. A text that the compiler refuses panics with an *Error of KindCompile that has the position, as
// "kernel:line".
func (rt *Runtime) Compile(text string) *Kernel { return rt.CompileAt("kernel", 1, text) }

// CompileAt is Compile for a text that begins at a line of a file or cell, which positions then cite.
func (rt *Runtime) CompileAt(name string, line int, text string) *Kernel {
	const op = "Compile"
	key := source{name, line, text}
	rt.mu.Lock()
	m := rt.modules[key]
	rt.mu.Unlock()
	if m != nil {
		return m.kernels[0]
	}
	d, err := rt.dev.Compile(device.Source{Name: name, Line: line, Text: text})
	if err != nil {
		panic(rt.failure(op, err))
	}
	m = &module{d: d}
	for _, k := range d.Kernels() {
		m.kernels = append(m.kernels, newKernel(rt, m, k))
	}
	if len(m.kernels) == 0 {
		d.Close()
		e := rt.misuse(op, "text", `write extern "C" __global__ void name(...) {...}`, "the text has no __global__ function")
		e.Kind, e.File, e.Line = KindCompile, name, line
		panic(e)
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.modules[key] = m
	return m.kernels[0]
}

func newKernel(rt *Runtime, m *module, d device.Kernel) *Kernel {
	k := &Kernel{rt: rt, d: d, module: m}
	var params []string
	for _, p := range d.Params() {
		k.params = append(k.params, signature.Classify(p.Type))
		params = append(params, signature.Param{Name: p.Name, Type: p.Type}.String())
	}
	k.sig = d.Name() + "(" + strings.Join(params, ", ") + ")"
	return k
}

// Kernel returns another kernel of the same text by its name.
func (k *Kernel) Kernel(name string) *Kernel {
	i := slices.IndexFunc(k.module.kernels, func(o *Kernel) bool { return o.d.Name() == name })
	if i < 0 {
		var names []string
		for _, o := range k.module.kernels {
			names = append(names, o.d.Name())
		}
		panic(k.rt.misuse("Kernel", "name", "it has "+strings.Join(names, ", "), "the text has no kernel %q", name))
	}
	return k.module.kernels[i]
}

// Name is the function's name.
func (k *Kernel) Name() string { return k.d.Name() }

// String is the signature, with what the compiler made of it where that is known.
func (k *Kernel) String() string {
	a := k.d.Attributes()
	if a.Registers == 0 {
		return k.sig
	}
	return fmt.Sprintf("%s: %d registers, %d bytes of shared memory, %d bytes of local memory a thread", k.sig, a.Registers, a.StaticShared, a.Local)
}
