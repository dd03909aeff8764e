//go:build linux && (amd64 || arm64)

package cpu

import (
	"slices"
	"sync"

	"github.com/symmrepl/symmrepl/kernels/signature"
	"github.com/symmrepl/symmrepl/symmem/internal/cpu/emu"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// kernel is a __global__ function with the layout of its parameters and, for a snippet, their names
// and types.
type kernel struct {
	emu    *emu.Kernel
	params []device.Param
	module *module // nil for an operation
}

// newKernel combines the compiler's layout with the names in the text. text is nil for built-in
// kernels.
func newKernel(k *emu.Kernel, text []signature.Param) *kernel {
	out := &kernel{emu: k}
	for i, p := range k.Params {
		param := device.Param{Offset: p.Offset, Size: p.Size}
		if i < len(text) {
			param.Name, param.Type = text[i].Name, text[i].Type
		}
		out.params = append(out.params, param)
	}
	return out
}

func (k *kernel) Name() string           { return k.emu.Name }
func (k *kernel) Params() []device.Param { return k.params }
func (k *kernel) Attributes() device.Attributes {
	return device.Attributes{MaxThreads: maxThreads}
}

// module is a loaded snippet.
type module struct {
	device  *cpu
	emu     *emu.Module
	name    string // name of the loaded library
	library string // on disk, with line numbers
	source  device.Source
	kernels []device.Kernel
	once    sync.Once

	signatures []signature.Kernel
	watch      sync.Mutex
	defined    map[string]device.Ptr // variables that were set; guarded by watch
	// the snippet compiled to be watched, made at the first watched launch; the module itself if it
	// was compiled so
	watched *module
}

func (m *module) Kernels() []device.Kernel { return m.kernels }

// Define implements device.Definer. The watched module gets the same value.
func (m *module) Define(name string, value device.Ptr) (bool, error) {
	if !m.emu.Define(name, uintptr(value)) {
		return false, nil
	}
	m.watch.Lock()
	defer m.watch.Unlock()
	if m.defined == nil {
		m.defined = map[string]device.Ptr{}
	}
	m.defined[name] = value
	if m.watched != nil {
		m.watched.emu.Define(name, uintptr(value))
	}
	return true, nil
}

// Close unloads the snippet when no queued work needs it any more. Faults of such work are reported
// without a line.
func (m *module) Close() error {
	m.once.Do(func() {
		m.device.mu.Lock()
		delete(m.device.modules, m.name)
		m.device.mu.Unlock()
		m.emu.Close()
		m.watch.Lock()
		defer m.watch.Unlock()
		if m.watched != nil && m.watched != m {
			m.watched.Close()
		}
	})
	return nil
}

// watchedKernel returns the same kernel of the watched module, which has its own variables.
func (m *module) watchedKernel(k *kernel) (*kernel, error) {
	m.watch.Lock()
	defer m.watch.Unlock()
	if m.watched == nil {
		w, err := m.device.compileAs(m.source, m.signatures, true)
		if err != nil {
			return nil, err
		}
		for name, value := range m.defined {
			w.emu.Define(name, uintptr(value))
		}
		m.watched = w
	}
	return m.watched.kernels[slices.IndexFunc(m.kernels, func(o device.Kernel) bool { return o == device.Kernel(k) })].(*kernel), nil
}
