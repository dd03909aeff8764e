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
	case "f8e4m3":
		return 28, true
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

// of8 returns the reason why cuBLASLt does not do a product of 8-bit floats, or "" if it does: it
// reads both factors along k, 16 bytes at a time.
func of8(m device.MatMul) string {
	switch {
	case m.Type != "f8e4m3":
		return ""
	case !m.Flipped:
		return "cuBLASLt multiplies 8-bit floats only if b is given by TransposedB"
	case m.N%16 != 0 || m.K%16 != 0:
		return "cuBLASLt multiplies 8-bit floats only if k and n are multiples of 16"
	case (m.Out|m.A|m.B)%16 != 0:
		return "cuBLASLt multiplies 8-bit floats only at addresses that are multiples of 16"
	}
	return ""
}

// MatMul implements device.Stream.
func (s *Stream) MatMul(m device.MatMul) error {
	if name, why := s.d.MatMulLibrary(); name == "" {
		return &device.UnavailableError{Kind: "cuda", Why: why}
	}
	if why := of8(m); why != "" {
		return &device.UnavailableError{Kind: "cuda", Why: why}
	}
	t, ok := matmulType(m.Type)
	out, ok2 := matmulType(m.OutType)
	if !ok || !ok2 {
		return fmt.Errorf("cuBLASLt has no products of %s into %s", m.Type, m.OutType)
	}
	err := s.d.products.library.Matmul(s.c, clib.Matmul{
		Out: uintptr(m.Out), A: uintptr(m.A), B: uintptr(m.B), M: m.M, N: m.N, K: m.K, Type: t, OutType: out,
		Flipped: m.Flipped, ScaleA: uintptr(m.ScaleA), ScaleB: uintptr(m.ScaleB), Scales: m.Scales,
		Workspace: uintptr(m.Workspace), WorkspaceSize: m.WorkspaceSize,
	})
	if err == clib.ErrNoAlgorithm {
		return &device.UnavailableError{Kind: "cuda", Why: "cuBLASLt has no algorithm for this product"}
	}
	return err
}
