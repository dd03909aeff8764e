package cuda

import (
	"fmt"
	"sync"

	"github.com/symmrepl/symmrepl/symmem/internal/cuda/clib"
	"github.com/symmrepl/symmrepl/symmem/internal/cuda/libs"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// products holds the library that multiplies matrices. It is searched for when it is first needed.
type products struct {
	once    sync.Once
	library clib.CuBLASLt
	name    string
	why     string // why there is no library
}

// matmulType returns CUDA's number of a type, if cuBLASLt multiplies matrices of it.
func matmulType(dtype string) (number int, ok bool) {
	switch dtype {
	case "f32":
		return 0, true
	case "f64":
		return 1, true
	case "f16":
		return 2, true
	case "bf16":
		return 14, true
	}
	return 0, false
}

// MatMulLibrary implements device.Device.
func (d *Device) MatMulLibrary() (name, why string) {
	p := &d.products
	p.once.Do(func() {
		kind := libs.CuBLASLt()
		p.why = "cuBLASLt was not found: " + kind.Hint
		for _, l := range libs.ThisHost().Find(kind) {
			var err error
			if p.library, err = d.c.LoadCuBLASLt(l.Path); err != nil {
				p.why = "cuBLASLt does not load: " + err.Error()
				continue
			}
			p.name, p.why = "cuBLASLt", ""
			return
		}
	})
	return p.name, p.why
}

// MatMul implements device.Stream.
func (s *Stream) MatMul(m device.MatMul) error {
	if name, why := s.d.MatMulLibrary(); name == "" {
		return &device.UnavailableError{Kind: "cuda", Why: why}
	}
	t, ok := matmulType(m.Type)
	out, ok2 := matmulType(m.OutType)
	if !ok || !ok2 {
		return fmt.Errorf("cuBLASLt has no products of %s into %s", m.Type, m.OutType)
	}
	return s.d.products.library.Matmul(s.c, clib.Matmul{
		Out: uintptr(m.Out), A: uintptr(m.A), B: uintptr(m.B), M: m.M, N: m.N, K: m.K, Type: t, OutType: out,
		Workspace: uintptr(m.Workspace), WorkspaceSize: m.WorkspaceSize,
	})
}
