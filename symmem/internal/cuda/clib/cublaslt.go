package clib

// #include <stdlib.h>
// #include "clib.h"
import "C"

import (
	"errors"
	"fmt"
)

// CuBLASLt is the loaded library, for one device.
type CuBLASLt struct{ c *C.sy_lt }

// LoadCuBLASLt opens the library. It stays loaded.
func (d Device) LoadCuBLASLt(path string) (CuBLASLt, error) {
	p := C.CString(path)
	defer free(p)
	var why [whySize]C.char
	l := CuBLASLt{C.sy_lt_load(d.c, p, &why[0], whySize)}
	if l.c == nil {
		return CuBLASLt{}, errors.New(C.GoString(&why[0]))
	}
	return l, nil
}

// Matmul is a product of row-major matrices: Out[M][N] = A[M][K] B[K][N]. The types are CUDA's
// numbers.
type Matmul struct {
	Out, A, B      uintptr
	M, N, K        int
	Type, OutType  int
	Flipped        bool    // B is B[N][K]
	ScaleA, ScaleB uintptr // of 8-bit floats; 0 for none
	Scales         bool    // they have one for each row of A and column of B
	Workspace      uintptr
	WorkspaceSize  int
}

// ErrNoAlgorithm is the error for a product for which the library has no algorithm.
var ErrNoAlgorithm = errors.New("it has no algorithm for this product")

// Matmul queues a product.
func (l CuBLASLt) Matmul(s Stream, m Matmul) error {
	c := C.sy_matmul{
		out: C.uint64_t(m.Out), a: C.uint64_t(m.A), b: C.uint64_t(m.B), m: C.uint64_t(m.M), n: C.uint64_t(m.N), k: C.uint64_t(m.K),
		_type: C.int(m.Type), out_type: C.int(m.OutType), workspace: C.uint64_t(m.Workspace), workspace_size: C.size_t(m.WorkspaceSize),
	}
	c.odd, c.flipped, c.scales = truth((m.Out|m.A|m.B)%16 != 0), truth(m.Flipped), truth(m.Scales)
	c.scale_a, c.scale_b = C.uint64_t(m.ScaleA), C.uint64_t(m.ScaleB)
	if st := C.sy_lt_matmul(l.c, s.c, &c); st.code == -1 {
		return ErrNoAlgorithm
	} else if st.code != 0 {
		return fmt.Errorf("%s returned %d", C.GoString(st.call), int(st.code))
	}
	return nil
}

func truth(b bool) C.int {
	if b {
		return 1
	}
	return 0
}
