package cuda

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/symmrepl/symmrepl/kernels"
	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/kernels/cudalex"
	"github.com/symmrepl/symmrepl/kernels/signature"
	"github.com/symmrepl/symmrepl/symmem/internal/cuda/checked"
	"github.com/symmrepl/symmrepl/symmem/internal/cuda/clib"
	"github.com/symmrepl/symmrepl/symmem/internal/cuda/cubin"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// module implements device.Module.
type module struct {
	d       *Device
	c       clib.Module
	kernels []device.Kernel
}

func (m *module) Kernels() []device.Kernel { return m.kernels }

func (m *module) Close() error { return m.c.Close() }

// Define implements device.Definer.
func (m *module) Define(name string, value device.Ptr) (bool, error) {
	at, err := m.c.Variable(name)
	if notFound(err) {
		return false, nil
	}
	for i := range 2 {
		if err == nil {
			err = m.d.Poke(device.Ptr(at)+device.Ptr(4*i), uint32(value>>(32*i)))
		}
	}
	return err == nil, err
}

// kernel implements device.Kernel.
type kernel struct {
	name    string
	c       clib.Function
	params  []device.Param
	args    int // size of the argument buffer in bytes
	about   device.Attributes
	allowed sync.Mutex
	dynamic atomic.Int64 // bytes of dynamic shared memory allowed so far
}

func (k *kernel) Name() string                  { return k.name }
func (k *kernel) Params() []device.Param        { return k.params }
func (k *kernel) Attributes() device.Attributes { return k.about }

// allow raises the limit of dynamic shared memory for launches of the kernel.
func (k *kernel) allow(bytes int) error {
	k.allowed.Lock()
	defer k.allowed.Unlock()
	if bytes <= int(k.dynamic.Load()) {
		return nil
	}
	if err := k.c.SetAttribute(clib.FuncMaxDynamicShared, bytes); err != nil {
		return err
	}
	k.dynamic.Store(int64(bytes))
	return nil
}

// Compile implements device.Device.
func (d *Device) Compile(src device.Source) (device.Module, error) {
	found, unit, unread := snippet(src)
	code, err := d.compile(src, unit)
	if err == nil && unread != nil {
		err = unread
	}
	if err != nil {
		return nil, err
	}
	return d.load(code, found, make([][]bool, len(found)))
}

// Load implements device.Loader.
func (d *Device) Load(code []byte, name string) (device.Module, error) {
	var failed *device.DriverError
	c, err := d.c.LoadModule(code)
	if err != nil {
		if errors.As(err, &failed) && !failed.Poisoned {
			failed.Hint = "compile the file again, for this GPU and by a compiler that is not newer than the driver"
		}
		return nil, err
	}
	m := &module{d: d, c: c}
	k, err := m.kernel(name, name)
	if notFound(err) && errors.As(err, &failed) {
		failed.Hint = "the file has no such kernel for this GPU: cuobjdump -elf lists the kernels"
	}
	if err == nil {
		err = k.describe(nil, nil)
	}
	if err != nil {
		m.Close()
		return nil, err
	}
	m.kernels = []device.Kernel{k}
	return m, nil
}

// compile compiles a unit of a source.
func (d *Device) compile(src device.Source, unit cubin.Unit) (cubin.Binary, error) {
	if src.Library {
		l, err := NCCL()
		if err != nil {
			return cubin.Binary{}, err
		}
		l.headers.use(&unit)
	}
	return d.compiler.Compile(unit)
}

// CompileChecked implements device.BoundsChecker.
func (d *Device) CompileChecked(src device.Source) (device.Module, error) {
	found, units, which := checkedSnippet(src)
	var err error
	for _, u := range units {
		var code cubin.Binary
		if code, err = d.compile(src, u); err == nil {
			return d.load(code, found, which)
		}
	}
	return nil, err
}

// mostRegisters limits the registers of kernels with checked pointers, which need more of them, so
// that a block may have as many threads as without checks.
const mostRegisters = "--maxrregcount=64"

// checkedSnippet is snippet with checked pointers, for a text that compiles: the first unit has
// them in all places; the second, for the case that the first does not compile, only among the
// parameters. which reports for each kernel's parameters which ones are checked.
func checkedSnippet(src device.Source) (found []signature.Kernel, units []cubin.Unit, which [][]bool) {
	found, unit, _ := snippet(src)
	unit.Text, which = checked.Rewrite(src.Text, found)
	unit.Options = []string{"--define-macro=SYMM_BOUNDS", mostRegisters}
	all := unit
	all.Text = checked.RewriteAll(unit.Text)
	return found, []cubin.Unit{all, unit}, which
}

// load loads the kernels found in a text.
func (d *Device) load(code cubin.Binary, found []signature.Kernel, which [][]bool) (device.Module, error) {
	c, err := d.c.LoadModule(code.Cubin)
	if err != nil {
		return nil, err
	}
	m := &module{d: d, c: c}
	for i, k := range found {
		lowered, there := code.Lowered[k.Name]
		if k.ExternC {
			lowered, there = k.Name[strings.LastIndexByte(k.Name, ':')+1:], true // whatever its namespace
		}
		if !there {
			continue // the preprocessor left it out
		}
		kern, err := m.kernel(k.Name, lowered)
		if notFound(err) {
			continue // the preprocessor left out this one too
		}
		if err == nil {
			err = kern.describe(k.Params, which[i])
		}
		if err != nil {
			m.Close()
			return nil, err
		}
		m.kernels = append(m.kernels, kern)
	}
	return m, nil
}

// notFound reports the driver's CUDA_ERROR_NOT_FOUND.
func notFound(err error) bool {
	var failed *device.DriverError
	return errors.As(err, &failed) && failed.Code == 500
}

// snippet returns the launchable kernels of a source and the unit to compile. unread is set if this
// package cannot parse the text. It matters only if the text compiles nevertheless; otherwise the
// compiler's error is better.
func snippet(src device.Source) (found []signature.Kernel, unit cubin.Unit, unread *device.CompileError) {
	fault := func(line int, text string) *device.CompileError {
		return &device.CompileError{Diagnostics: []device.Diagnostic{{File: src.Name, Line: src.Line + line - 1, Text: text}}}
	}
	unit = emptySnippet()
	unit.Name, unit.Line, unit.Text = src.Name, src.Line, src.Text
	all, err := signature.Parse(src.Text, src.Instances...)
	var failed *cudalex.Error
	if errors.As(err, &failed) {
		unread = fault(failed.Line, failed.Msg)
	}
	lines := map[string]int{}
	for _, k := range all {
		if k.Template {
			continue
		}
		if first := lines[k.Name]; first != 0 {
			unread = fault(k.Line, fmt.Sprintf("kernel %s is also on line %d: kernels are launched by name, so give each its own",
				k.Name, src.Line+first-1))
			continue
		}
		lines[k.Name] = k.Line
		found = append(found, k)
		if !k.ExternC {
			unit.Expressions = append(unit.Expressions, k.Name)
		}
	}
	if unread != nil {
		unit.Expressions = nil
	}
	return found, unit, unread
}

// emptySnippet is the unit of a snippet without a text.
func emptySnippet() cubin.Unit {
	headers, first := snippetHeaders()
	return cubin.Unit{Name: "snippet", Headers: headers, Includes: first, StandIns: standIns()}
}

// kernel returns a function of the module with its attributes.
func (m *module) kernel(name, lowered string) (*kernel, error) {
	f, err := m.c.Function(lowered)
	if err != nil {
		return nil, err
	}
	k := &kernel{name: name, c: f}
	var dynamic int
	for _, a := range []struct {
		of clib.FunctionAttribute
		to *int
	}{
		{clib.FuncRegisters, &k.about.Registers},
		{clib.FuncStaticShared, &k.about.StaticShared},
		{clib.FuncLocal, &k.about.Local},
		{clib.FuncMaxThreads, &k.about.MaxThreads},
		{clib.FuncMaxDynamicShared, &dynamic},
	} {
		if *a.to, err = f.Attribute(a.of); err != nil {
			return nil, err
		}
	}
	k.dynamic.Store(int64(dynamic))
	return k, nil
}

// describe sets the parameters of the kernel. params are their names and types, nil for a built-in
// kernel, and which reports for each parameter whether it is a checked pointer; nil if none is.
func (k *kernel) describe(params []signature.Param, which []bool) error {
	layout, known, err := k.c.Params()
	if err != nil {
		return err
	}
	if !known {
		if params == nil {
			return nil // callers of built-in kernels know the layout
		}
		if layout, err = naturalLayout(k.name, params, which); err != nil {
			return err
		}
	}
	if params != nil && len(params) != len(layout) {
		return fmt.Errorf("kernel %s has %d parameters in its text and %d when compiled: "+
			"write its parameters without macros", k.name, len(params), len(layout))
	}
	for i, l := range layout {
		p := device.Param{Offset: l.Offset, Size: l.Size}
		if params != nil {
			p.Name, p.Type, p.Checked = params[i].Name, params[i].Type, which != nil && which[i]
		}
		k.params = append(k.params, p)
		k.args = max(k.args, l.Offset+l.Size)
	}
	return nil
}

// naturalLayout computes the layout for drivers before CUDA 12.4, which do not report it.
func naturalLayout(name string, params []signature.Param, which []bool) ([]clib.Layout, error) {
	var list []clib.Layout
	end := 0
	for i, p := range params {
		t := signature.Classify(p.Type)
		size := t.Size * t.Lanes
		align := size
		switch {
		case which != nil && which[i]:
			size, align = int(unsafe.Sizeof(abi.Checked{})), 8
		case t.Pointers > 0:
			size, align = 8, 8
		case size == 0:
			return nil, &device.UnavailableError{Kind: "cuda",
				Why:  fmt.Sprintf("the driver cannot tell the size of parameter %q of kernel %s", p, name),
				Hint: "use a driver of CUDA 12.4 or newer, or pass a pointer instead"}
		case t.Lanes == 3:
			align = t.Size
		}
		align = min(align, 16)
		offset := (end + align - 1) / align * align
		list = append(list, clib.Layout{Offset: offset, Size: size})
		end = offset + size
	}
	return list, nil
}

// CompilerName implements device.CompilerNamer.
func (d *Device) CompilerName() string { return "NVRTC" }

// Builtin implements device.Device. The unit that holds the kernel is compiled once for each device
// and group size.
func (d *Device) Builtin(name string, ranks int) (device.Kernel, error) {
	file, ok := kernels.Source(name, ranks)
	if !ok {
		return nil, fmt.Errorf("there is no built-in kernel %s", name)
	}
	d.builtins.Lock()
	defer d.builtins.Unlock()
	m := d.units[file.Name]
	if m == nil {
		var err error
		if m, err = d.loadUnit(file); err != nil {
			return nil, err
		}
		d.units[file.Name] = m
	}
	for _, k := range m.kernels {
		if k.Name() == name {
			return k, nil
		}
	}
	k, err := m.kernel(name, name)
	if err == nil {
		err = k.describe(nil, nil)
	}
	if err != nil {
		return nil, err
	}
	m.kernels = append(m.kernels, k)
	return k, nil
}

func (d *Device) loadUnit(file kernels.File) (*module, error) {
	code, err := d.compiler.Compile(builtin(file))
	if err != nil {
		return nil, err
	}
	c, err := d.c.LoadModule(code.Cubin)
	if err != nil {
		return nil, err
	}
	return &module{d: d, c: c}, nil
}

// builtin returns the unit of a source of package kernels.
func builtin(file kernels.File) cubin.Unit {
	return cubin.Unit{Name: file.Name, Line: 1, Text: file.Text, Headers: builtinHeaders()}
}
