package yaegi

import "unsafe"

// intRegisters is the number of registers in which Go passes integers and pointers.
const intRegisters = 16

// callAny calls any function that has a signature. All registers for integers are in use, so the
// last parameter is on the stack.
//
//go:nocheckptr
func callAny(function unsafe.Pointer, r *registers, pointers uint) {
	f := *(*func(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15 uintptr, s, t, u, v, w, x, y, z float64,
		stack [stackWords]uintptr) (j, k, l, m uintptr, o, p float64))(unsafe.Pointer(&function))
	i, x := &r.ints, &r.floats
	j, k, l, m, o, p := f(i[0], i[1], i[2], i[3], i[4], i[5], i[6], i[7], i[8], i[9], i[10], i[11], i[12], i[13], i[14], i[15],
		x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], r.stack)
	r.keep(j, k, l, m, pointers)
	x[0], x[1] = o, p
}
