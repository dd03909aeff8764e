package symmem

import "github.com/symmrepl/symmrepl/symmem/internal/element"

// Readers of the element types that are no numbers, or more than one number.

// Bools returns the elements of a tensor of Bool. It waits for the current stream.
func (t *Tensor) Bools() []bool {
	const op = "Bools"
	t.mustHave(op, Bool)
	out := make([]bool, t.n)
	for i, b := range t.read(op, t.n) {
		out[i] = b != 0
	}
	return out
}

// Uint8s returns the elements of a tensor of U8, as bytes. It waits for the current stream.
func (t *Tensor) Uint8s() []byte {
	const op = "Uint8s"
	t.mustHave(op, U8)
	return t.read(op, t.n)
}

// Complex128s returns the elements of a tensor of any type as complex numbers, exactly but for
// integers beyond 2^53. It waits for the current stream.
func (t *Tensor) Complex128s() []complex128 {
	const op = "Complex128s"
	t.usable(op)
	data, out := t.read(op, t.n), make([]complex128, t.n)
	if t.dtype == C128 {
		copy(element.Bytes(out), data)
		return out
	}
	for i := range out {
		out[i] = t.dtype.element().ComplexAt(data, i)
	}
	return out
}

// mustHave refuses a tensor of another type than d.
func (t *Tensor) mustHave(op string, d DType) {
	t.usable(op)
	if t.dtype != d {
		panic(t.rt.misuse(op, "tensor", t.dtype.reader()+" reads it", "%s reads elements of %v, and this is %s", op, d, t.kind()))
	}
}

// mustBeReal refuses complex elements.
func (t *Tensor) mustBeReal(op string) {
	if t.dtype.element().IsComplex() {
		panic(t.rt.misuse(op, "tensor", "read it by Complex128s", "%s has complex numbers", t.kind()))
	}
}
