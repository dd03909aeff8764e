package symmem

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/symmrepl/symmrepl/kernels/cudalex"
	"github.com/symmrepl/symmrepl/kernels/signature"
	core "github.com/symmrepl/symmrepl/symmem/internal/core"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Kernel is a __global__ function of a text that Compile accepted, or of a file that LoadKernel
// loaded.
type Kernel struct {
	rt     *Runtime
	d      device.Kernel
	module *module
	layout []device.Param   // of the arguments that Launch takes
	params []signature.Type // of layout, understood
	bytes  int              // of all arguments together
	sig    string           // "scale(float* x, int n)"
	block  [3]int           // the only block that it may be launched with; zero if there is none
	shared int              // bytes of dynamic shared memory, unless a launch says otherwise

	symmetric []bool // by parameter: declared so by Symmetric; nil if none is
}

// module is a compiled text, or a loaded file. It stays loaded until the world is closed: its
// kernels may be running.
type module struct {
	d       device.Module
	source  device.Source
	kernels []*Kernel
	library string         // whose nccl_device.h it was compiled with, empty if ours
	why     string         // ours, where there could be another one
	checked func() *module // with checked pointers, compiled when it is first asked for; nil if the text cannot be
	bounded bool           // it is such a one
	file    string         // that it was loaded from, empty if it was compiled
	shmem   bool           // it includes nvshmem.h
}

// source identifies a text, so that compiling it again costs nothing.
type source struct {
	name    string
	line    int
	text    string
	made    string // the instances of templates that were asked for
	library string
}

// snippets are the modules of a world by their texts.
type snippets struct {
	mu      sync.Mutex
	modules map[source]*module
}

func (s *snippets) find(key source) *module {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.modules[key]
}

func (s *snippets) keep(key source, m *module) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.modules == nil {
		s.modules = map[source]*module{}
	}
	s.modules[key] = m
}

// Compile turns CUDA C++ into kernels and returns the first one. symm.cuh is already included. It
// is not collective.
//
// A kernel that is a template is launched as one of its instances, which is called by its
// arguments, too: "scale<float, 4>". The text may make it,
//
//	template <class T> __global__ void scale(T* x, T by) { x[threadIdx.x] *= by; }
//	template __global__ void scale<float>(float*, float);
//
// or instances name it, as in Compile(text, "scale<float>", "scale<int>"), which returns the first
// of these.
//
// The text may include nccl_device.h, cuda_fp16.h, cuda_bf16.h, cuda_fp8.h, cuda_fp4.h,
// cooperative_groups.h, cuda/atomic and parts of C++'s headers, such as type_traits and limits, on
// every device, whether CUDA's toolkit is installed or not. Inline PTX of the common instructions
// runs on every device; docs/cpu-device.md lists the constructs that the cpu device refuses. With
// the back end NCCL, nccl_device.h is NCCL's own, of the version that is loaded, if that is 2.30.7
// or later, the headers are installed with it, the ranks are on one host with a GPU each, and the
// text uses no more than pointers and barriers of the LSA team; [Runtime.Explain] of a launch says
// which it is and why. A snippet that the compiler refuses panics with an *Error of KindCompile
// that has the position, as "kernel:line".
func (rt *Runtime) Compile(text string, instances ...string) *Kernel {
	return rt.CompileAt("kernel", 1, text, instances...)
}

// CompileAt is Compile for a text that begins at a line of a file or cell, which positions then
// cite; they may be any.
func (rt *Runtime) CompileAt(name string, line int, text string, instances ...string) *Kernel {
	const op = "Compile"
	rt.core.RefuseClosed(op)
	rt.refuseInstances(op, text, instances)
	library, why := rt.core.NativeHeaders(text)
	key := source{name: name, line: line, text: text, made: strings.Join(instances, "\n"), library: library}
	if m := rt.snippets.find(key); m != nil {
		return m.first(instances)
	}
	defer rt.core.Compiling()()
	src := device.Source{Name: name, Line: line, Text: text, Instances: instances, Library: library != ""}
	d, err := rt.dev.Compile(src)
	// our header has names of slides and of later versions, or names their replacements
	if wrong := (*device.CompileError)(nil); library != "" && errors.As(err, &wrong) {
		library, why = "", library+"'s does not take it: "+rt.core.Failure(op, err).Msg
		src.Library = false
		d, err = rt.dev.Compile(src)
	}
	if err != nil {
		panic(rt.core.Failure(op, err))
	}
	m := newModule(rt, d, src)
	m.library, m.why = library, why
	for _, name := range instances {
		if m.find(name) == nil {
			d.Close()
			panic(rt.core.Misuse(op, "instances", "write types that the text declares, and a template that no #if leaves out",
				"the compiler knows no %s", name))
		}
	}
	m.checked = sync.OnceValue(func() *module { return compileChecked(rt, m) })
	if len(m.kernels) == 0 {
		d.Close()
		panic(rt.noKernel(op, src))
	}
	if rt.core.ChecksBounds() {
		m.checked() // now, since the driver may hold back the loading of a kernel while another one runs
	}
	rt.snippets.keep(key, m)
	return m.first(instances)
}

// refuseInstances refuses names that are not instances of templates in a text. The compiler reports
// other errors of the text.
func (rt *Runtime) refuseInstances(op, text string, instances []string) {
	if _, err := signature.Parse(text); err != nil || len(instances) == 0 {
		return
	}
	var wrong *cudalex.Error
	if _, err := signature.Parse(text, instances...); errors.As(err, &wrong) {
		panic(rt.core.Misuse(op, "instances",
			`an instance is named by the template's name and its arguments: Compile(text, "f<float>")`, "%s", wrong.Msg))
	}
}

// noKernel returns the error of a text that has no kernel to launch.
func (rt *Runtime) noKernel(op string, src device.Source) *Error {
	e := rt.core.Misuse(op, "text", `write extern "C" __global__ void name(...) {...}`, "the text has no __global__ function")
	all, _ := signature.Parse(src.Text)
	for _, k := range all {
		if k.Template {
			e = rt.core.Misuse(op, "text",
				fmt.Sprintf(`name an instance by its arguments: Compile(text, "%s<float>"), or make it in the text: template __global__ void %[1]s<float>(...);`, k.Name),
				"%s is a template, and the text has no instance of it", k.Name)
			src.Line += k.Line - 1
			break
		}
	}
	e.Kind, e.File, e.Line = KindCompile, src.Name, src.Line
	return e
}

// first is the kernel that Compile returns.
func (m *module) first(instances []string) *Kernel {
	if len(instances) > 0 {
		return m.find(instances[0])
	}
	return m.kernels[0]
}

// find returns a kernel by its name, or nil.
func (m *module) find(name string) *Kernel {
	name = signature.Canonical(name)
	if i := slices.IndexFunc(m.kernels, func(k *Kernel) bool { return k.d.Name() == name }); i >= 0 {
		return m.kernels[i]
	}
	return nil
}

func newModule(rt *Runtime, d device.Module, source device.Source) *module {
	m := &module{d: d, source: source}
	if strings.Contains(source.Text, "nvshmem") {
		m.shmem = rt.core.DefineShmem("Compile", d)
	}
	for _, k := range d.Kernels() {
		m.kernels = append(m.kernels, newKernel(rt, m, k))
	}
	return m
}

// compileChecked compiles the text of a module with checked pointers. It returns nil, and says why,
// if that cannot be: the kernels then run unchecked.
func compileChecked(rt *Runtime, m *module) *module {
	defer rt.core.Compiling()()
	d, err := rt.dev.(device.BoundsChecker).CompileChecked(m.source)
	if err != nil {
		fmt.Fprintf(os.Stderr, "symmrepl: accesses of %s are not checked: with pointers that know their bounds the text does not compile: %v\n", strings.Join(m.names(), ", "), err)
		return nil
	}
	c := newModule(rt, d, m.source)
	c.library, c.why, c.bounded = m.library, m.why, true
	return c
}

// toLaunch is the kernel itself, or the same with checked pointers if these are wanted.
func (k *Kernel) toLaunch() *Kernel {
	if !k.rt.core.ChecksBounds() {
		return k
	}
	m := k.module.checked()
	if m == nil {
		return k
	}
	i := slices.IndexFunc(m.kernels, func(o *Kernel) bool { return o.Name() == k.Name() })
	if i < 0 {
		return k
	}
	checked := *m.kernels[i]
	checked.symmetric = k.symmetric
	return &checked
}

// Symmetric returns the kernel with parameters declared symmetric, by their names: pointers, pointers
// to pointers and handles. A launch then takes a tensor for each of them, and places it: a symmetric
// tensor that its group has not mapped is rendezvoused; an ordinary one is copied to symmetric memory
// that all ranks have mapped before the kernel runs, and back after. The kernel gets the address of
// this rank's copy for a pointer, the array of the addresses of all copies for a pointer to pointers,
// as [Handle.BufferPtrsDev] returns, and the handle for a symm::Handle. Such a launch is collective
// over the group, and the first may meet the other ranks on the host; it is refused while a graph is
// captured if a tensor would have to be mapped or copied. PyTorch: register_symm_mem_args.
func (k *Kernel) Symmetric(names ...string) *Kernel {
	const op = "Symmetric"
	k.exists(op)
	k.rt.core.RefuseClosed(op)
	if len(names) == 0 {
		panic(k.rt.core.Misuse(op, "names", "name parameters of "+k.sig, "no parameter is named"))
	}
	declared := *k
	declared.symmetric = make([]bool, len(k.params))
	copy(declared.symmetric, k.symmetric)
	for _, name := range names {
		i := slices.IndexFunc(k.layout, func(p device.Param) bool { return p.Name == name && name != "" })
		if i < 0 {
			panic(k.rt.core.Misuse(op, "names", "name parameters of "+k.sig, "%s has no parameter %q", k.d.Name(), name))
		}
		if t := k.params[i]; !(t.Base == signature.Handle && t.Pointers == 0) && t.Pointers != 1 && t.Pointers != 2 {
			panic(k.rt.core.Misuse(op, "names", "declare pointers, pointers to pointers and handles",
				"parameter %q of %s is no pointer and no symm::Handle", name, k.sig))
		}
		declared.symmetric[i] = true
	}
	return &declared
}

func newKernel(rt *Runtime, m *module, d device.Kernel) *Kernel {
	k := &Kernel{rt: rt, d: d, module: m}
	for _, p := range d.Params() {
		k.take(p, signature.Classify(p.Type))
	}
	k.sign()
	return k
}

// take adds an argument to the arguments of a launch.
func (k *Kernel) take(p device.Param, t signature.Type) {
	k.layout, k.params = append(k.layout, p), append(k.params, t)
	k.bytes = max(k.bytes, p.Offset+p.Size)
}

// sign writes the signature.
func (k *Kernel) sign() {
	var params []string
	for _, p := range k.layout {
		params = append(params, signature.Param{Name: p.Name, Type: p.Type}.String())
	}
	k.sig = k.d.Name() + "(" + strings.Join(params, ", ") + ")"
}

// Kernel returns another kernel of the same text by its name.
func (k *Kernel) Kernel(name string) *Kernel {
	const op = "Kernel"
	k.exists(op)
	k.rt.core.RefuseClosed(op)
	if found := k.module.find(name); found != nil {
		return found
	}
	if file := k.module.file; file != "" {
		panic(k.rt.core.Misuse(op, "name", "LoadKernel loads another kernel of the file", "%s was loaded from %s alone, not %q",
			k.d.Name(), file, name))
	}
	panic(k.rt.core.Misuse(op, "name", "it has "+strings.Join(k.module.names(), ", "), "the text has no kernel %q", name))
}

// names lists the kernels.
func (m *module) names() (names []string) {
	for _, k := range m.kernels {
		names = append(names, k.d.Name())
	}
	return names
}

// Name is the function's name.
func (k *Kernel) Name() string {
	k.exists("Name")
	return k.d.Name()
}

// exists refuses a nil kernel.
func (k *Kernel) exists(op string) {
	if k == nil || k.rt == nil {
		panic(core.NilArgument(op, "kernel"))
	}
}

// String is the signature, with the figures of the compiler if they are known.
func (k *Kernel) String() string {
	if k == nil || k.rt == nil {
		return "nil kernel"
	}
	a := k.d.Attributes()
	if a.Registers == 0 {
		return k.sig
	}
	return fmt.Sprintf("%s: %d registers, %d bytes of shared memory, %d bytes of local memory a thread", k.sig, a.Registers,
		a.StaticShared, a.Local)
}
